import { describeCode } from '@holdfast/core/internal';
import type { CheckedPlan, CompileEvent, PlanNode, PlanViolation } from '@holdfast/orchestrator';
import type { InputTree, NodeAsk, Reference } from '@holdfast/orchestrator/internal';
import { formatCount } from '@holdfast/orchestrator/text';
import { labelText } from '../calls/foreign-text.ts';
import type { LineStyle } from '../calls/line.ts';
import { describeTerminal, type Host } from '../terminal/host.ts';
import { formatTable, type TableRow } from '../terminal/table.ts';
import { fitColumns, toPrintable, wrapBlock } from '../terminal/text.ts';

// Longer tables are not readable.
const maxRows = 200;
// Longer inputs are cut; `--json` has all.
const maxInputCharacters = 240;
const maxInputs = 12;

/** The nodes of a plan and their inputs, in plan order. */
export function describePlanNodes({ plan, inputs }: CheckedPlan, style: LineStyle): readonly string[] {
  const { colors } = style;
  const head = [
    { title: 'node', paint: colors.bold },
    { title: 'tool' },
    { title: 'needs' },
    { title: 'on fail' },
    { title: 'purpose and inputs' },
  ];
  const shown = plan.nodes.slice(0, maxRows);
  const rows = shown.map((node, position) => toRow(node, inputs[position], node.id === plan.final_output_node));
  const more = plan.nodes.length - shown.length;
  return [
    ...formatTable(head, rows, style),
    ...(more > 0 ? [colors.dim(`… and ${formatCount(more, 'more node')}; use \`--json\``)] : []),
  ];
}

function toRow(
  { id, tool, depends_on, on_fail, retry, metadata }: PlanNode,
  inputs: InputTree | undefined,
  isFinal: boolean,
): TableRow {
  const { purpose } = metadata;
  const notes = [
    ...(typeof purpose === 'string' && purpose.trim() !== '' ? [purpose.trim()] : []),
    ...(inputs === undefined ? [] : listInputs(inputs)),
    ...(retry === 0 ? [] : [`up to ${formatCount(retry, 'retry', 'retries')}`]),
    ...(isFinal ? ['result of the plan'] : []),
  ];
  return [String(id), tool, listIds(depends_on, 3), onFailWords[on_fail], notes.length === 0 ? [''] : notes];
}

const onFailWords: Readonly<Record<PlanNode['on_fail'], string>> = {
  halt: 'halt',
  continue: 'continue',
  skip_dependents: 'skip dependents',
};

/** `a, b and 7 more`. */
export function listIds(ids: readonly (string | number)[], max: number): string {
  const shown = ids.slice(0, max).join(', ');
  return ids.length <= max ? shown : `${shown} and ${ids.length - max} more`;
}

function listInputs(tree: InputTree): readonly string[] {
  const members = toMembers(tree);
  const shown = members.slice(0, maxInputs).map(([name, text]) => `${name}: ${cut(text)}`);
  return members.length <= maxInputs
    ? shown
    : [...shown, `… and ${formatCount(members.length - maxInputs, 'more input')}`];
}

function toMembers(tree: InputTree): readonly (readonly [string, string])[] {
  if (tree.type === 'object') return tree.members.map(([name, member]) => [name, formatInputTree(member)]);
  if (tree.type !== 'value' || tree.value === null || typeof tree.value !== 'object') return [];
  return Object.entries(tree.value).map(([name, value]) => [name, JSON.stringify(value)]);
}

function cut(text: string): string {
  return text.length <= maxInputCharacters ? text : `${text.slice(0, maxInputCharacters).toWellFormed()}…`;
}

/** Inputs as JSON, with references as `<news.titles>`, or with a default as `<news.titles, else []>`. */
export function formatInputTree(tree: InputTree): string {
  switch (tree.type) {
    case 'value':
      return JSON.stringify(tree.value);
    case 'reference':
      return formatReference(tree.reference);
    case 'text': {
      const [only, ...others] = tree.parts;
      if (typeof only === 'object' && others.length === 0 && tree.keepsType) return formatReference(only);
      const text = tree.parts.map((part) =>
        typeof part === 'string' ? JSON.stringify(part).slice(1, -1) : formatReference(part),
      );
      return `"${text.join('')}"`;
    }
    case 'list':
      return `[${tree.items.map(formatInputTree).join(', ')}]`;
    case 'object':
      return `{${tree.members.map(([name, member]) => `${JSON.stringify(name)}: ${formatInputTree(member)}`).join(', ')}}`;
    default:
      return tree satisfies never;
  }
}

function formatReference(reference: Reference): string {
  const steps = reference.path.map((step) =>
    typeof step === 'number' ? `[${step}]` : /^[A-Za-z_][\w-]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`,
  );
  const otherwise = Object.hasOwn(reference, 'default') ? `, else ${JSON.stringify(reference.default)}` : '';
  return `<${reference.from}${steps.join('')}${otherwise}>`;
}

/** A row for each violation. */
export function describeViolations(violations: readonly PlanViolation[], style: LineStyle): readonly string[] {
  const head = [{ title: 'code', paint: style.colors.bold }, { title: 'where' }, { title: 'problem' }];
  const rows = violations.map((violation) => [
    describeCode(violation),
    violation.path === '' ? 'plan' : violation.path,
    violation.message,
  ]);
  // Paths are long: narrow tables stack their cells.
  return formatTable(head, rows, style);
}

/** Lists the nodes that need approval, and why. */
export function describeAsks(asks: readonly NodeAsk[], style: LineStyle): readonly string[] {
  if (asks.length === 0) return [];
  const { colors, columns } = style;
  const shown = asks.slice(0, 20);
  return [
    '',
    colors.yellow(
      // Says nothing about who will answer; that depends on how the plan is run.
      `${asks.length === 1 ? 'This node needs' : `These ${asks.length} nodes need`} approval:`,
    ),
    ...shown.flatMap(({ node, tool, reasons, dangerous }) =>
      labelText(
        '  ? ',
        toPrintable(
          `${node}  ${tool}${dangerous ? '  dangerous' : ''}${reasons.length === 0 ? '' : `  ${reasons.join('; ')}`}`,
        ),
        columns,
      ),
    ),
    ...(asks.length > shown.length ? [`  … and ${asks.length - shown.length} more`] : []),
  ];
}

/** Lists warnings. */
export function describeWarnings(warnings: readonly PlanViolation[], style: LineStyle): readonly string[] {
  const { colors, columns } = style;
  const shown = warnings.slice(0, 10);
  const lines = shown.flatMap((warning) => wrapBlock(`  ${toPrintable(describeWarning(warning))}`, columns - 1));
  const more = warnings.length > shown.length ? [`  … and ${warnings.length - shown.length} more`] : [];
  return warnings.length === 0 ? [] : ['', colors.yellow('Warnings:'), ...lines, ...more];
}

function describeWarning({ path, message, ...kind }: PlanViolation): string {
  return `${path === '' ? '' : `${path}: `}${message} (${describeCode(kind)})`;
}

/** Reports the progress of a planner on stderr. `planner`: its id. */
export function createCompileView(planner: string, { stderr, environment }: Host): (event: CompileEvent) => void {
  const { columns } = describeTerminal(stderr, environment);
  let wrong = 0;
  const print = (text: string): void =>
    void stderr.write(`${fitColumns(toPrintable(text), Math.min(columns, 400) - 1)}\n`);
  return (event) => {
    switch (event.type) {
      case 'planner-asked':
        if (wrong > 0) print(`the plan of ${planner} has ${formatCount(wrong, 'problem')}: asking again`);
        else if (event.round === 1) print(`asking ${planner} for a plan`);
        wrong = 0;
        break;
      case 'planner-failed':
        print(`${planner} failed: ${event.message}`);
        break;
      case 'planner-answered':
        wrong = event.violations.length;
        break;
      default:
        event satisfies never;
    }
  };
}
