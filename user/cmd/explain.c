#include "cmd.h"
int cmd_explain(struct options *o)
{
	(void)o;
	return 0;
}
