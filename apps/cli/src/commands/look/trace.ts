import { resolve } from 'node:path';
import { readTrace, synthesise } from '@holdfast/orchestrator';
import type { LogRecord } from '@holdfast/session';
import { type LogReading, readLog } from '@holdfast/session/jsonl';
import { type Command, Option } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import { planToMermaid } from '../../drawing/mermaid.ts';
import { traceToHtml } from '../../drawing/page.ts';
import type { CommandContext } from '../../flags/command.ts';
import { readCount } from '../../flags/values.ts';
import { describeIntegrity, isDamaged, warnOfDamage } from '../../logs/damage.ts';
import { describeTraceFor } from '../../plan/trace-view.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { checkOutput, writeOutput } from '../../terminal/output-file.ts';
import { toPrintableBlock, wrapBlock } from '../../terminal/text.ts';
import { shortenPath } from '../../workspace/folder.ts';
import { findSession } from '../../workspace/known.ts';
import { type FoundLog, findLog, listLogs } from '../../workspace/session-logs.ts';

const help = `
Examples:
  $ holdfast trace                              the last plan of the newest session that has run one
  $ holdfast trace 20260517-093012345-k3x9 --plan 1
  $ holdfast trace --html trace.html            graph and timeline in one file, which any browser shows
  $ holdfast trace --mermaid
  $ holdfast trace --json | jq '.nodes[] | select(.kind != "ok")'

\`holdfast show\` has the records, \`holdfast why\` one call. Exits with 1 when the log is torn or was changed after it was written.`;

interface TraceFlags {
  readonly plan?: number;
  readonly json?: boolean;
  readonly mermaid?: boolean;
  readonly report?: boolean;
  readonly html?: string;
  readonly force?: boolean;
  readonly workspace: string;
}

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .argument('[id]', 'id of the session (default: the newest that has run a plan)')
    .option('--plan <n>', 'which plan of the session, counted from 1 (default: the last)', readCount)
    .option('--workspace <dir>', 'folder that the session worked in', '.')
    .addOption(new Option('--json', 'the trace as JSON').conflicts(['mermaid', 'report', 'html']))
    .addOption(new Option('--mermaid', 'as a Mermaid flowchart').conflicts(['report', 'html']))
    .addOption(new Option('--report', 'as a report in words, by rules').conflicts('html'))
    .option('--html <file>', 'write a page with graph and timeline, which needs nothing else, to this file')
    .option('--force', 'with --html: replace a file that is there')
    .addHelpText('after', help)
    .action(async (id: string | undefined, { plan, workspace, html, force, ...flags }: TraceFlags) =>
      end(await showTrace({ id, plan, workspace, form: readForm(flags), html, force: force === true }, host)),
    );
}

function readForm({ json, mermaid, report }: Omit<TraceFlags, 'workspace'>): TraceOptions['form'] {
  if (json === true) return 'json';
  if (mermaid === true) return 'mermaid';
  return report === true ? 'report' : 'table';
}

export interface TraceOptions {
  /** Absent: the newest session that has run a plan. */
  readonly id: string | undefined;
  /** Which of its plans, counted from 1. Absent: the last. */
  readonly plan: number | undefined;
  readonly workspace: string;
  readonly form: 'table' | 'json' | 'mermaid' | 'report';
  /** Where a page goes. */
  readonly html: string | undefined;
  /** Replaces a page that is there. */
  readonly force: boolean;
}

/**
 * Prints what became of a plan, or writes it as a page; 1 when the log is damaged.
 *
 * @throws HoldfastError `usage.session_unknown`, `usage.plan_unknown`, `usage.file_exists`, `output.unwritable`, `log.*`.
 */
export async function showTrace(options: TraceOptions, host: Host): Promise<ExitCode> {
  const { form, html, force } = options;
  const output = html === undefined ? undefined : { file: html, force };
  if (output !== undefined) await checkOutput(output, host);
  const { log, reading } = await findTraced(options, host);
  const trace = readTrace(reading.records, findPlan(reading.records, log, options.plan));
  const style = describeStyle(host);
  const print = (lines: readonly string[]): void => void host.stdout.write(`${lines.join('\n')}\n`);
  if (output !== undefined) {
    await writeOutput(output, traceToHtml(trace), host);
    print([`Written: ${shortenPath(resolve(host.directory, output.file), host.directory)}`]);
  } else if (form === 'json') {
    print([toJsonText(trace, 2)]);
  } else if (form === 'mermaid') {
    print([planToMermaid(trace.plan, trace).trimEnd()]);
  } else if (form === 'report') {
    const { text } = await synthesise(trace);
    print(wrapBlock(toPrintableBlock(text.trimEnd()), style.columns - 1));
  } else {
    print([...describeTraceFor(trace, style), '', describeIntegrity(reading, style, 'shown')]);
    return isDamaged(reading) ? 1 : 0;
  }
  warnOfDamage(reading, host.stderr);
  return isDamaged(reading) ? 1 : 0;
}

interface TracedLog {
  readonly log: FoundLog;
  readonly reading: LogReading;
}

/** @throws HoldfastError `usage.session_unknown`, `usage.plan_unknown`, `log.*`. */
async function findTraced({ id, workspace }: TraceOptions, host: Host): Promise<TracedLog> {
  const folder = resolve(host.directory, workspace);
  if (id !== undefined) {
    const log = await findSession(folder, id, host);
    return { log, reading: readLog(log.path) };
  }
  for (const log of (await listLogs(folder)).toReversed()) {
    const reading = readLog(log.path);
    if (reading.records.some(isPlanStart)) return { log, reading };
  }
  // Says where was looked, when there is no session at all.
  await findLog(folder, undefined);
  throw usageError(
    'usage.plan_unknown',
    'No session of this workspace has run a plan: `holdfast plan "<request>" --run` runs one, and `--workspace DIR` looks elsewhere.',
  );
}

function isPlanStart({ type }: LogRecord): boolean {
  return type === 'plan-start';
}

/** The run by which the records name a plan. */
function findPlan(records: readonly LogRecord[], { id }: FoundLog, number: number | undefined): number {
  const runs = records.filter(isPlanStart).map(({ plan }) => Number(plan));
  const run = number === undefined ? runs.at(-1) : runs[number - 1];
  if (run !== undefined) return run;
  const has =
    runs.length === 0 ? 'has run no plan' : `has run ${runs.length === 1 ? 'one plan' : `${runs.length} plans`}`;
  throw usageError(
    'usage.plan_unknown',
    `Session \`${id}\` ${has}${number === undefined ? '' : `, so there is no plan ${number} to show`}: \`holdfast show ${id}\` prints what is there.`,
  );
}
