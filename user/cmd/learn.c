#include "cmd.h"
int cmd_learn(struct options *o)
{
	(void)o;
	return 0;
}
