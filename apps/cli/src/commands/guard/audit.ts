import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { createRedactor } from '@holdfast/session/redact';
import { type Command, Option } from 'commander';
import { auditToHtml, describeAudit } from '../../audit/describe.ts';
import { formats } from '../../audit/formats.ts';
import { judge } from '../../audit/judge.ts';
import { type AuditReport, suggestChecks, summarize } from '../../audit/report.ts';
import { findTranscripts } from '../../audit/transcript.ts';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { readCount } from '../../flags/values.ts';
import { homeFolder } from '../../guard/place.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { checkOutput, writeOutput } from '../../terminal/output-file.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { shortenPath } from '../../workspace/folder.ts';

const names = formats.map(({ agent }) => agent.name);

const help = `
Examples:
  $ holdfast audit                              all agents, the last 30 days
  $ holdfast audit --agent codex --days 7
  $ holdfast audit --html audit.html            one page, for any browser
  $ holdfast audit --suggest                    checks of your projects that should count before a push

Reads the transcripts that ${names.join(', ')} left in your home, and sends each call through the guard's policies and your own rule file,
as if the guard had been there. Runs nothing, sends nothing, and writes nothing but what you ask for. Secrets in what it quotes are masked.
Files are judged as they are today. Of Codex's commands it takes the exit codes of the transcript, which Codex does not report to a hook:
there, run checks as \`holdfast guard run -- npm test\`.`;

export interface AuditFlags {
  readonly agent?: string | undefined;
  readonly days?: number | undefined;
  readonly html?: string | undefined;
  readonly force?: boolean | undefined;
  readonly suggest?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .option('--agent <name>', `only ${names.join(', ')}`)
    .option('--days <n>', 'transcripts that changed in the last days (default: 30)', readCount)
    .addOption(new Option('--html <file>', 'write a page to this file').conflicts('json'))
    .option('--force', 'with --html: replace an existing file')
    .option('--suggest', 'propose additions to your rule file, and what they would change')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (flags: AuditFlags) => end(await showAudit(flags, host)));
}

/** @throws HoldfastError `usage.invalid` (`agent_unknown`, `file_exists`, `folder_missing`), `output.unwritable`. */
export async function showAudit(flags: AuditFlags, host: Host): Promise<ExitCode> {
  const { agent, days = 30, html, force = false, suggest = false, json = false } = flags;
  if (agent !== undefined && !names.includes(agent))
    throw usageError('agent_unknown', `Unknown agent \`${agent}\`: use one of ${names.join(', ')}.`);
  const output = html === undefined ? undefined : { file: html, force };
  if (output !== undefined) await checkOutput(output, host);
  const sinceMs = host.clock.now() - days * 86_400_000;
  const chosen = formats.filter((format) => agent === undefined || format.agent.name === agent);
  const found = (await Promise.all(chosen.map((format) => findTranscripts(format, homeFolder(host), sinceMs)))).flat();
  // The key only has to hold for this report.
  const redactor = createRedactor({ key: randomBytes(32) });
  const judged = await judge(found, host);
  const report = summarize(judged, redactor);
  const checks = suggest ? suggestChecks(judged.calls) : [];
  const changed = checks.length === 0 ? undefined : summarize(await judge(found, host, { checks }), redactor);
  if (output !== undefined) {
    await writeOutput(output, auditToHtml(report), host);
    printLines(host, [`Written: ${shortenPath(resolve(host.directory, output.file), host.directory)}`]);
  } else if (json) {
    printJson(host, {
      ...report,
      ...(suggest
        ? { suggested: { checks, ...(changed === undefined ? {} : { denied: changed.denied, asked: changed.asked }) } }
        : {}),
    });
  } else if (report.calls === 0) {
    const folders = chosen.map(({ folder }) => `~/${folder}`).join(', ');
    printLines(host, [`No transcripts of the last ${days} days in ${folders}.`]);
  } else {
    printLines(host, [
      ...describeAudit(report, describeStyle(host)),
      ...(suggest ? describeSuggested(checks, report, changed) : []),
    ]);
  }
  return 0;
}

function describeSuggested(
  checks: readonly string[],
  before: AuditReport,
  after: AuditReport | undefined,
): readonly string[] {
  if (after === undefined)
    return ['', 'Nothing to suggest: no command that looks like a check ran before a denied push.'];
  return [
    '',
    'For your own holdfast.policy.json:',
    ...JSON.stringify({ checks }, undefined, 2)
      .split('\n')
      .map((line) => `  ${line}`),
    `With it: ${after.denied} denied in place of ${before.denied}, ${after.asked} asked in place of ${before.asked}.`,
  ];
}
