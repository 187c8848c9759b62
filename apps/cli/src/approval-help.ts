// What stands behind the lists of options in the help of the commands about runs that wait.

export const pendingHelp: string = `
Examples:
  $ holdfast pending                            every session of this folder in which something waits
  $ holdfast pending 20260517-093012345-k3x9    one session: arguments and changes whole, up to 10 questions
  $ holdfast pending --json | jq -r '.[] | .session as $id | .calls[] | select(.state == "waiting") | "\\($id) \\(.callId)"'

Of the built-in file tools it is shown what they would change: files made, changed or removed, with sizes and a diff. Long arguments
and diffs are cut in the middle, unless the session is named.

No lock is taken: it works while another process has the session open. Exits with 1 when a log is damaged.`;

export const approveHelp: string = `
Examples:
  $ holdfast approve 20260517-093012345-k3x9 call_1_0
  $ holdfast approve 20260517-093012345-k3x9 call_1_0 call_1_1 --by anna
  $ holdfast approve 20260517-093012345-k3x9 call_1_0 --grant       and further calls of the same tool
  $ holdfast approve 20260517-093012345-k3x9 call_1_0 --digest 3fa9b2c1

Each call is shown whole before it is answered. At a terminal you are asked once more when it does not fit on the screen; a no answers
nothing and exits with 1. Without a terminal it is printed and answered, so a script should pass the --digest of what was looked at.

The beginning of an id will do where only one call has it. Nothing runs by an answer: \`holdfast resume\` goes on. The answer holds
for this call, these arguments, this tool and these policies; when any of them is another by then, it is asked anew.`;

export const denyHelp: string = `
Examples:
  $ holdfast deny 20260517-093012345-k3x9 call_1_0 --reason "Not on a Friday."
  $ holdfast deny 20260517-093012345-k3x9 call_1_0 call_1_1 --by anna

The model is told, and the other calls of its message keep their results. Nothing runs by an answer: \`holdfast resume\` goes on.`;

export const resumeHelp: string = `
Examples:
  $ holdfast resume                             the run of the newest session of this folder
  $ holdfast resume 20260517-093012345-k3x9 --workspace ~/project
  $ holdfast resume 20260517-093012345-k3x9 --suspend       runs what was answered, and asks nobody
  $ holdfast resume 20260517-093012345-k3x9 --max-calls 100 when the run has used up what it was given

Model, tools and where they run, order, allowed tools and limits are those that the run was given, unless they are set here. Limits
on rounds, calls and tokens count what the run has used before; --timeout and --approval-timeout begin anew.

So are plugins, packs and lists of tools: when one is missing or used otherwise than when the run was begun, nothing runs and the exit
code is 2, unless --accept-config is given. What has been added, and what lets less through, is in force as it is.

What is still unanswered is asked for at the terminal; without one, or with --suspend, the run waits on and the exit code is 3.
A run whose process was killed is gone on with, too: files are completed or put back by the log, a call that may be repeated
runs again, and one that may not is in doubt, unless \`holdfast resolve\` has told what came of it.`;

export const resolveHelp: string = `
Examples:
  $ holdfast resolve 20260517-093012345-k3x9 call_1_0 --done --value '{"id": 7}'
  $ holdfast resolve 20260517-093012345-k3x9 call_1_0 --not-done --reason "The server has no such order."

A call that touches the world, and whose process ended under it, is never repeated silently. Find out what came of it, and say so;
\`holdfast resume\` then tells the model. Of a call that has ended as in-doubt it is noted for people who read the log.`;

export const grantsHelp: string = `
Examples:
  $ holdfast grants                             of the newest session of this folder
  $ holdfast grants 20260517-093012345-k3x9 --withdraw delete_files

A grant holds for the tool as it was: one that was changed since is asked for again.`;
