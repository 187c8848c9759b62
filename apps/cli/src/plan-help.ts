// What stands behind the lists of options in the help of the commands about plans.

export const planHelp: string = `
Examples:
  $ holdfast plan "Read README.md and write it to copy.md"
  $ holdfast plan "Read README.md and write it to copy.md" --output copy.plan.json
  $ holdfast plan check copy.plan.json         is it good for the tools that are here, and what will it ask?
  $ holdfast plan run copy.plan.json
  $ holdfast plan "Read README.md and write it to copy.md" --run
  $ holdfast plan "Summarise docs" --model openai:gpt-5 --json | holdfast plan run -
  $ holdfast plan "Read README.md and write it to copy.md" --mermaid

A plan is a graph of tool calls that is written before any of them runs. It is checked as a whole: tools, inputs, references, order, and
what the policies will surely deny. What is wrong goes back to the model, at most twice. Nothing runs before it is good, and nothing runs
that it does not say.

The request "check" or "run" alone is a command; any other text is a request. Exits with 1 when there is no plan that can be run.`;

export const planCheckHelp: string = `
Examples:
  $ holdfast plan check copy.plan.json
  $ holdfast plan check copy.plan.json --tools my-tools --json | jq '.violations[].code'
  $ holdfast plan "Read README.md and write it to copy.md" --json | holdfast plan check -

Everything that is wrong is listed at once, each with a code and a path. Of the tools nothing runs but schemas and locks. The digest stands
for the plan and all that it says: \`holdfast plan run --digest\` runs no other one. Exits with 1 when the plan cannot be run.`;

export const planRunHelp: string = `
Examples:
  $ holdfast plan run copy.plan.json
  $ holdfast plan run copy.plan.json --digest 3b1f5cf02d7a9e44      only the plan that somebody has looked at
  $ holdfast plan run copy.plan.json --concurrency 2 --max-calls 50 --timeout 120
  $ holdfast plan run copy.plan.json --suspend                      it waits for \`holdfast approve\`
  $ holdfast plan run copy.plan.json --json | jq -c 'select(.type == "node-end").node | {node, kind}'

No model takes part. Each node is a call like any other: policies, approval, undone when it fails, recorded. What waits or was killed,
\`holdfast resume\` goes on with: nodes that have ended are not run again. \`holdfast trace\` tells what became of each.

Exit codes: 0 every node succeeded; 1 not all did, or it was stopped; 3 it waits for a person, and \`holdfast pending\` shows for what.`;

export const traceHelp: string = `
Examples:
  $ holdfast trace                              the last plan of the newest session that has run one
  $ holdfast trace 20260517-093012345-k3x9 --plan 1
  $ holdfast trace --html trace.html            graph and timeline in one file, which any browser shows
  $ holdfast trace --mermaid
  $ holdfast trace --json | jq '.nodes[] | select(.kind != "ok")'

\`holdfast show\` has the records, \`holdfast why\` one call. Exits with 1 when the log is torn or was changed after it was written.`;
