#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# TLS, both ways, and credentials: with the right ones hosts talk, with wrong ones they say why not, and go on without.
# shellcheck disable=SC2317 # check calls the functions
. "$(dirname "$0")/lib.sh"

host a
host b
for h in a b; do
	load $h --peers 8 --window 4s --memory 1MiB --placement shared || { fail "load"; finish; }
done

# authority NAME; certificate NAME AUTHORITY ADDRESS...
authority() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
		-keyout "$tmp/$1.key" -out "$tmp/$1.pem" 2>/dev/null
}
certificate() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
		-keyout "$tmp/$1.key" -out "$tmp/$1.csr" 2>/dev/null
	printf 'subjectAltName=%s\n' "$3" >"$tmp/$1.ext"
	openssl x509 -req -in "$tmp/$1.csr" -CA "$tmp/$2.pem" -CAkey "$tmp/$2.key" -CAcreateserial \
		-days 2 -extfile "$tmp/$1.ext" -out "$tmp/$1.pem" 2>/dev/null
}
authority ca
authority other
certificate server ca IP:10.77.1.1,IP:10.77.2.1
certificate elsewhere ca DNS:nats.example.org
certificate a ca DNS:a
certificate b ca DNS:b
certificate stranger other DNS:stranger

tls=(--tls --tlscert "$tmp/server.pem" --tlskey "$tmp/server.key" --tlscacert "$tmp/ca.pem" --tlsverify)
talk() { believes 10 a b && believes 10 b a; }
ends() {
	local h
	for h in a b; do end_agent $h TERM; done
	stop_server
	: >"$tmp/a.agent"
	: >"$tmp/b.agent"
}
start_server "${tls[@]}"
for h in a b; do agent $h --silence 1s --nats-ca "$tmp/ca.pem" --nats-cert "$tmp/$h.pem" --nats-key "$tmp/$h.key"; done
check "with certificates both ways hosts talk" talk
check "a server without JetStream is none the less one" grep -q 'no JetStream' "$tmp/a.agent"
end_agent b TERM
: >"$tmp/b.agent"
agent b --nats-ca "$tmp/other.pem" --nats-cert "$tmp/b.pem" --nats-key "$tmp/b.key"
check "a server of another authority is not spoken to" log_has 15 b 'certificate\|SSL'
end_agent b TERM
: >"$tmp/b.agent"
agent b --nats-ca "$tmp/ca.pem" --nats-cert "$tmp/stranger.pem" --nats-key "$tmp/stranger.key"
check "nor is a client of another one" log_has 15 b 'tried again'
check "which the others do not see" soon 15 a "p['b']['state'] != 'live'"
ends
start_server --tls --tlscert "$tmp/elsewhere.pem" --tlskey "$tmp/elsewhere.key"
for h in a b; do agent $h --nats-ca "$tmp/ca.pem"; done
check "a certificate of another host name is refused" log_has 15 a 'tried again'
ends

cat >"$tmp/nats.conf" <<END
authorization {
	users = [
		{ user: sensor, password: geheim,
		  permissions: { publish: ["xdd.default.>", "\$JS.API.>"], subscribe: ["xdd.default.>", "_INBOX.>"] } }
	]
}
END
start_server -c "$tmp/nats.conf" -js -sd "$tmp/js"
login=sensor:geheim@
agent a --silence 1s
XDP_DEDUP_NATS=$(url b) start b "$xdd" agent --silence 1s
check "with a password, from the command line or the environment" talk
check "which is in no message" bash -c "! grep -q geheim '$tmp/a.agent' '$tmp/b.agent'"
check "nor, from the environment, in the list of processes" bash -c "! tr '\\0' ' ' </proc/${agents[b]}/cmdline | grep -q geheim"
check "rights to these subjects are enough for JetStream" bash -c "! grep -q 'no JetStream' '$tmp/a.agent'"
end_agent b TERM
login=sensor:falsch@
agent b --silence 1s
check "a wrong password is told" log_has 15 b 'authorization'
sleep 1
check_equal "once" 1 "$(grep -ci 'authorization' "$tmp/b.agent")"
check "and tried again" kill -0 "${agents[b]}"
check "the filter goes on without" is b "i['ager']['pid'] > 0"
packets "$tmp/new" 0 100
check_equal "and passes what nobody has seen" 100 "$(passed b "$tmp/new")"

# A user whose rights are of another group: who has them not is told, of each kind.
login=sensor:geheim@
end_agent b TERM
: >"$tmp/b.agent"
agent b --silence 1s --group other
check "a user without the rights of the group: an agent says so" log_has 15 b 'its user may not do what hosts of a group need'
sleep 1
check_equal "once for each" "$(grep -c 'may not do' "$tmp/b.agent")" "$(grep 'may not do' "$tmp/b.agent" | sort -u | wc -l)"
on b timeout 4 "$xdd" site --nats "$(url b)" --secret-file "$tmp/secret" --group other --engine bloom --memory 1MiB \
	--slicing vertical --slices 0-1/2 >"$tmp/site" 2>&1
check "... and so does a site" grep -q 'its user may not do what hosts of a group need' "$tmp/site"
on b timeout 10 "$xdd" joint --nats "$(url b)" --secret-file "$tmp/secret" --group other --monitors a.tap,b.tap \
	--period 1s --silence 1s >"$tmp/joint" 2>&1
check "... and joint" grep -q 'its user may not do what hosts of a group need' "$tmp/joint"
ends
login=

# An operator, an account and its user, with keys and JWTs.
check "keys and JWTs are made" tests/cluster/jwts.py "$tmp"
start_server -c "$tmp/jwt.conf"
for h in a b; do agent $h --silence 1s --nats-creds "$tmp/right.creds"; done
check "with credentials of the account's user hosts talk" talk
head -c 100 /dev/urandom | base64 >"$tmp/other.creds"
for wrong in stranger forged; do
	end_agent b TERM
	: >"$tmp/b.agent"
	agent b --silence 1s --nats-creds "$tmp/$wrong.creds"
	check "$wrong credentials are refused, which is told" log_has 15 b \
		'authorization.*tried again'
done
end_agent b TERM
: >"$tmp/b.agent"
agent b --silence 1s
check "and none as well" log_has 15 b 'authorization.*tried again'
check "who has the right ones stays" grep -q 'connected to' "$tmp/a.agent"
end_agent b TERM
check_command "no file of credentials is an error" 1 '' 'none.creds' on b timeout 20 "$xdd" agent --nats "$(url b)" --nats-creds "$tmp/none.creds"
check_command "nor is one without a seed tried" 1 '' 'other.creds: has no seed' on b timeout 20 "$xdd" agent --nats "$(url b)" --nats-creds "$tmp/other.creds"
finish
