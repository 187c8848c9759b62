import { createHash } from 'node:crypto';
import { HoldfastError, type Json } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { toOtlp } from '@holdfast/otel/otlp';
import type { Command } from 'commander';
import type { CommandContext } from '../../flags/command.ts';
import { addWorkspaceOption } from '../../flags/session.ts';
import { isDamaged, readSession, warnOfDamage } from '../../logs/damage.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { writeOutput } from '../../terminal/output-file.ts';
import { toPrintable } from '../../terminal/text.ts';
import type { SessionName } from '../../workspace/known.ts';

const help = `
Examples:
  $ holdfast export --otlp http://127.0.0.1:4318/v1/traces      the newest session of this folder, to a collector
  $ holdfast export 20260517-093012345-k3x9 --otlp trace.json   to a file
  $ holdfast export --otlp trace.json --content                 with arguments, results and reasons

Runs, plans and calls become spans with the GenAI semantic conventions. Exporting a session again sends the same ids.`;

interface ExportFlags extends SessionName {
  readonly otlp: string;
  readonly content?: boolean;
  readonly force?: boolean;
}

export function declare(command: Command, { host, end }: CommandContext): void {
  addWorkspaceOption(command.argument('[id]', 'session id (default: the newest)'))
    .requiredOption('--otlp <url|file>', 'where the OpenTelemetry traces go, as OTLP in JSON')
    .option('--content', 'include arguments, results and reasons, as masked in the log')
    .option('--force', 'replace an existing file')
    .addHelpText('after', help)
    .action(async (id: string | undefined, flags: ExportFlags) => end(await exportSession({ ...flags, id }, host)));
}

/**
 * Sends the traces of a session. Returns 1 if the log is damaged; its valid part is exported.
 *
 * @throws HoldfastError `usage.invalid` (`session_unknown`, `file_exists`), `command.failed`, `output.unwritable`, `log.*`.
 */
export async function exportSession(flags: ExportFlags, host: Host): Promise<ExitCode> {
  const { otlp, content, force = false } = flags;
  const { id, reading } = await readSession(flags, host);
  const createId = (name: string, digits: 16 | 32): string =>
    createHash('sha256').update(`${digits} ${name}`).digest('hex').slice(0, digits);
  const traces = toOtlp(reading.records, { sessionId: id, createId, content });
  if (/^https?:\/\//.test(otlp)) await post(otlp, traces);
  else await writeOutput({ file: otlp, force }, `${JSON.stringify(traces)}\n`, host);
  host.stdout.write(`Exported session ${id} to ${toPrintable(otlp)}.\n`);
  warnOfDamage(reading, host.stderr);
  return isDamaged(reading) ? 1 : 0;
}

async function post(url: string, traces: Json): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  let status: number;
  try {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(traces), redirect: 'error' });
    ({ status } = response);
    if (response.ok) return;
  } catch (cause) {
    throw new HoldfastError('command.failed', `Cannot send the traces to \`${url}\`: ${describeThrown(cause)}.`, {
      data: { reason: 'export' },
      cause,
    });
  }
  throw new HoldfastError('command.failed', `\`${url}\` refused the traces with status ${status}: check the address.`, {
    data: { reason: 'export' },
  });
}
