import { resolve } from 'node:path';
import { readTrace, synthesise } from '@holdfast/orchestrator';
import type { LogRecord } from '@holdfast/session';
import { type Command, Option } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import { planToMermaid } from '../../drawing/mermaid.ts';
import { traceToHtml } from '../../drawing/page.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addWorkspaceOption, type SessionOptions } from '../../flags/session.ts';
import { readCount } from '../../flags/values.ts';
import { describeIntegrity, isDamaged, type ReadSession, readSession, warnOfDamage } from '../../logs/damage.ts';
import { describeTraceFor } from '../../plan/trace-view.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { checkOutput, writeOutput } from '../../terminal/output-file.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { toPrintableBlock, wrapBlock } from '../../terminal/text.ts';
import { shortenPath } from '../../workspace/folder.ts';
import { findSession } from '../../workspace/known.ts';
import { listSessionIds } from '../../workspace/session-logs.ts';

const help = `
Examples:
  $ holdfast trace                              the last plan of the newest session that ran one
  $ holdfast trace 20260517-093012345-k3x9 --plan 1
  $ holdfast trace --html trace.html            graph and timeline in one file, for any browser
  $ holdfast trace --mermaid
  $ holdfast trace --json | jq '.nodes[] | select(.kind != "ok")'

\`holdfast show\` prints the records, \`holdfast why\` explains one call. Exits with 1 if the log is torn or was modified.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addWorkspaceOption(command.argument('[id]', 'session id (default: the newest that ran a plan)'))
    .option('--plan <n>', 'number of the plan in the session, from 1 (default: the last)', readCount)
    .addOption(new Option('--json', 'print the trace as JSON').conflicts(['mermaid', 'report', 'html']))
    .addOption(new Option('--mermaid', 'print a Mermaid flowchart').conflicts(['report', 'html']))
    .addOption(new Option('--report', 'print a written report, made by rules').conflicts('html'))
    .option('--html <file>', 'write a self-contained page with graph and timeline to this file')
    .option('--force', 'with --html: replace an existing file')
    .addHelpText('after', help)
    .action(async (id: string | undefined, flags: TraceOptions) => end(await showTrace({ ...flags, id }, host)));
}

export interface TraceOptions extends SessionOptions {
  /** Number of the plan in the session, from 1. Default: the last. */
  readonly plan?: number | undefined;
  readonly mermaid?: boolean;
  readonly report?: boolean;
  /** The file to write the page to. */
  readonly html?: string | undefined;
  /** Replaces an existing file. */
  readonly force?: boolean;
}

/**
 * Prints the trace of a plan, or writes it as a page. Returns 1 if the log is damaged.
 *
 * @throws HoldfastError `usage.invalid` (`session_unknown`, `plan_unknown`, `file_exists`), `output.unwritable`, `log.*`.
 */
export async function showTrace(options: TraceOptions, host: Host): Promise<ExitCode> {
  const { json, mermaid, report, html, force = false } = options;
  const output = html === undefined ? undefined : { file: html, force };
  if (output !== undefined) await checkOutput(output, host);
  const session = await findTraced(options, host);
  const { reading } = session;
  const trace = readTrace(reading.records, findPlan(session, options.plan));
  const style = describeStyle(host);
  const code = isDamaged(reading) ? 1 : 0;
  if (output !== undefined) {
    await writeOutput(output, traceToHtml(trace), host);
    printLines(host, [`Written: ${shortenPath(resolve(host.directory, output.file), host.directory)}`]);
  } else if (json) {
    printJson(host, trace);
  } else if (mermaid) {
    printLines(host, [planToMermaid(trace.plan, trace).trimEnd()]);
  } else if (report) {
    const { text } = await synthesise(trace);
    printLines(host, wrapBlock(toPrintableBlock(text.trimEnd()), style.columns - 1));
  } else {
    printLines(host, [...describeTraceFor(trace, style), '', describeIntegrity(reading, style, 'shown')]);
    return code;
  }
  warnOfDamage(reading, host.stderr);
  return code;
}

/** @throws HoldfastError `usage.invalid` (`session_unknown`, `plan_unknown`), `log.*`. */
async function findTraced(options: TraceOptions, host: Host): Promise<ReadSession> {
  if (options.id !== undefined) return await readSession(options, host);
  const folder = resolve(host.directory, options.workspace);
  for (const id of (await listSessionIds(folder)).toReversed()) {
    const session = await readSession({ ...options, id }, host);
    if (session.reading.records.some(isPlanStart)) return session;
  }
  // Fails with the folder that was searched if there are no sessions at all.
  await findSession(options, host);
  throw usageError(
    'plan_unknown',
    'No session of this workspace has run a plan. Run one with `holdfast plan "<request>" --run`, or pass `--workspace DIR`.',
  );
}

function isPlanStart({ type }: LogRecord): boolean {
  return type === 'plan-start';
}

/** The run that identifies a plan in the records. */
function findPlan({ id, reading }: ReadSession, number: number | undefined): number {
  const runs = reading.records.filter(isPlanStart).map(({ plan }) => Number(plan));
  const run = number === undefined ? runs.at(-1) : runs[number - 1];
  if (run !== undefined) return run;
  const has =
    runs.length === 0 ? 'has not run a plan' : `has run ${runs.length === 1 ? 'one plan' : `${runs.length} plans`}`;
  throw usageError(
    'plan_unknown',
    `Session \`${id}\` ${has}${number === undefined ? '' : `; there is no plan ${number}`}. Run \`holdfast show ${id}\` to see its records.`,
  );
}
