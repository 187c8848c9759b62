import type { PlanNode, TraceReport } from '@holdfast/orchestrator';
import type { NodeId, NodeReport } from '@holdfast/orchestrator/internal';
import { describeDecision, formatCount, formatDuration, listIds, toLine } from '@holdfast/orchestrator/text';
import { type Html, html, nothing, valueBlock } from './html.ts';
import { formatTime } from './text.ts';

const maxText = 2_000;
/** Decisions and failed attempts listed per node. */
const maxListed = 50;

/** A table row per node with all its details. */
export function nodesOf({ nodes, plan, startedAtMs }: TraceReport): Html {
  const planned = new Map<NodeId, PlanNode>(plan.nodes.map((node) => [node.id, node]));
  return html`<div class="table"><table>
<thead><tr><th scope="col">Node</th><th scope="col">Tool</th><th scope="col">Ended</th><th scope="col">Attempts</th><th scope="col">Started</th><th scope="col">Duration</th><th scope="col">Details</th></tr></thead>
<tbody>
${nodes.map((node, index) => rowOf(node, index, planned.get(node.node), startedAtMs))}</tbody>
</table></div>`;
}

function rowOf(node: NodeReport, index: number, planned: PlanNode | undefined, runAtMs: number): Html {
  const { purpose, startedAtMs, durationMs, attempts, why } = node;
  const started = startedAtMs === undefined ? '' : `+${formatDuration(Math.max(0, startedAtMs - runAtMs))}`;
  const took = durationMs === undefined ? '' : formatDuration(durationMs);
  return html`<tr id="node-${index}"><th scope="row"><bdi>${toLine(String(node.node), 80)}</bdi></th><td class="tool"><code><bdi>${toLine(node.tool, 80)}</bdi></code>${
    purpose === undefined ? nothing : html`<br><bdi>${toLine(purpose, maxText)}</bdi>`
  }</td><td>${markOf(node)}</td><td class="number">${attempts === 0 ? '' : attempts}</td><td class="number">${started}</td><td class="number">${took}</td><td class="more">${
    why === '' ? nothing : html`<bdi>${why}</bdi>`
  }<details><summary>Details<span class="told"> of <bdi>${toLine(String(node.node), 80)}</bdi></span></summary>
<dl>${factsOf(node, planned)}</dl></details></td></tr>
`;
}

export function markOf({ kind, tone }: NodeReport): Html {
  return html`<span class="mark ${tone}">${kind}</span>`;
}

function factsOf(node: NodeReport, planned: PlanNode | undefined): readonly Html[] {
  const { callId, code, message, dependsOn, because, input, decisions, approval, retries, startedAtMs, value } = node;
  return [
    fact('Message', message === '' ? undefined : html`<bdi>${toLine(message, maxText)}</bdi>`),
    fact('Code', code === undefined ? undefined : html`<code>${toLine(code, 200)}</code>`),
    fact('Because of', because.length === 0 ? undefined : html`<bdi>${listIds(because)}</bdi>`),
    fact('Needs', dependsOn.length === 0 ? undefined : html`<bdi>${listIds(dependsOn)}</bdi>`),
    fact('Call', callId === undefined ? undefined : html`<code><bdi>${toLine(callId, 200)}</bdi></code>`),
    fact('Started', startedAtMs === undefined ? undefined : html`${formatTime(startedAtMs)}`),
    planned === undefined ? nothing : fact('Plan', html`${termsOf(planned)}`),
    input === undefined
      ? planned === undefined
        ? nothing
        : fact('Inputs as planned', valueBlock(planned.inputs))
      : fact('Inputs', valueBlock(input)),
    fact('Decisions', decisions.length === 0 ? undefined : listOf(decisions.map(describeDecision))),
    fact(
      'Approval',
      approval === undefined
        ? undefined
        : html`<bdi>${approval.type === 'approve' ? 'approved' : 'denied'} by ${toLine(approval.by, 100)}</bdi>`,
    ),
    fact(
      'Failed attempts',
      retries.length === 0
        ? undefined
        : listOf(
            retries.map(
              ({ code: why, message: said, atMs }) =>
                `${formatTime(atMs)}: ${toLine(said, maxText)} (${toLine(why, 200)})`,
            ),
          ),
    ),
    fact('Result', value === null ? undefined : valueBlock(value)),
  ];
}

/** A term and its description; empty without a description. */
export function fact(term: string, described: Html | undefined): Html {
  return described === undefined
    ? nothing
    : html`<dt>${term}</dt><dd>${described}</dd>
`;
}

/** The first fifty lines, and the number of the rest. */
export function listOf(lines: readonly string[]): Html {
  const left = lines.length - maxListed;
  const more = left <= 0 ? nothing : html`<li class="cut">${formatCount(left, 'more', 'more')} not shown.</li>`;
  return html`<ul>${lines.slice(0, maxListed).map((line) => html`<li><bdi>${line}</bdi></li>`)}${more}</ul>`;
}

function termsOf({ on_fail: onFail, retry, timeout }: PlanNode): string {
  return [
    `on_fail ${onFail}`,
    retry === 0 ? 'no retry' : formatCount(retry, 'retry', 'retries'),
    `timeout ${timeout} s`,
  ].join(', ');
}
