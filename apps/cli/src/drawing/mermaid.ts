import { type Plan, type PlanNode, type PlanTrace, reportTrace } from '@holdfast/orchestrator';
import type { NodeId, NodeReport, Tone } from '@holdfast/orchestrator/internal';
import { formatDuration, toLine } from '@holdfast/orchestrator/text';

/**
 * The plan as a Mermaid flowchart. With a trace, nodes are colored by outcome and labeled with outcome and duration.
 *
 * Names, ids and purposes appear only as text, cut at 80 characters. Mermaid itself draws no more than 500 edges unless `maxEdges` is
 * raised.
 */
export function planToMermaid(plan: Plan, trace?: PlanTrace): string {
  // The chart's own ids, so that an id of a plan cannot be a Mermaid keyword.
  const places = new Map<NodeId, number>(plan.nodes.map(({ id }, index) => [id, index]));
  const report = trace === undefined ? undefined : reportTrace(trace);
  const traces = new Map<NodeId, NodeReport>(report?.nodes.map((node) => [node.node, node]));
  const nodes = plan.nodes.map((node, index) => {
    const label = labelOf(node, traces.get(node.id));
    return node.id === plan.final_output_node ? `  n${index}[["${label}"]]` : `  n${index}["${label}"]`;
  });
  const edges = plan.nodes.flatMap(({ depends_on: needs }, index) =>
    needs.flatMap((id) => {
      const place = places.get(id);
      return place === undefined ? [] : [`  n${place} --> n${index}`];
    }),
  );
  return ['flowchart TD', ...nodes, ...edges, ...listClasses(plan, traces), ''].join('\n');
}

function labelOf({ id, tool, metadata }: PlanNode, trace: NodeReport | undefined): string {
  const { purpose } = metadata;
  const lines = [`${escapeLabel(String(id))} ${escapeLabel(tool)}`];
  if (typeof purpose === 'string' && purpose !== '') lines.push(escapeLabel(purpose));
  if (trace !== undefined) lines.push(escapeLabel(stateOf(trace)));
  return lines.join('<br/>');
}

function stateOf({ kind, durationMs }: NodeReport): string {
  return durationMs === undefined ? kind : `${kind} ${formatDuration(durationMs)}`;
}

const tones: readonly Tone[] = ['ok', 'bad', 'doubt', 'skipped', 'open'];
const maxLabel = 80;

/**
 * Escapes text for a quoted label. Keeps letters, digits and spaces, and `_ - .` inside a word; writes everything else as character
 * codes, so that quotes, brackets, `<` and Markdown (`1. `, `- `, `#`) have no effect.
 */
function escapeLabel(text: string): string {
  return toLine(text.slice(0, 2 * maxLabel).replace(/\s+/g, ' '), maxLabel).replace(
    special,
    (character) => `#${character.codePointAt(0) ?? 0};`,
  );
}

const special = /(?![\p{L}\p{M}\p{N} ,]|(?<=[A-Za-z0-9])[-._](?=[A-Za-z0-9]))./gsu;

function listClasses(plan: Plan, traces: ReadonlyMap<NodeId, NodeReport>): readonly string[] {
  const members = new Map<Tone, string[]>();
  for (const [index, { id }] of plan.nodes.entries()) {
    const trace = traces.get(id);
    if (trace === undefined) continue;
    const { tone } = trace;
    const names = members.get(tone) ?? [];
    members.set(tone, names);
    names.push(`n${index}`);
  }
  return tones.flatMap((tone) => {
    const names = members.get(tone);
    return names === undefined ? [] : [`  classDef ${tone} ${colors[tone]}`, `  class ${names.join(',')} ${tone}`];
  });
}

const colors: Readonly<Record<Tone, string>> = {
  ok: 'fill:#d9f2df,stroke:#1a7f37,color:#0b3d1b',
  bad: 'fill:#ffdfdc,stroke:#b42318,color:#5c0f09',
  doubt: 'fill:#ffe9c7,stroke:#9a6700,color:#4d3300',
  skipped: 'fill:#ebebeb,stroke:#6e7781,color:#33383d',
  open: 'fill:#dcebff,stroke:#0969da,color:#062f63',
};
