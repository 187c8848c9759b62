import { formatCount } from '@holdfast/orchestrator/text';
import type { LineStyle } from '../calls/line.ts';
import { documentOf } from '../drawing/document.ts';
import { type Html, html, nothing } from '../drawing/html.ts';
import { fitColumns, toPrintable } from '../terminal/text.ts';
import type { AuditFinding, AuditReport } from './report.ts';

/** The report for a terminal. */
export function describeAudit(report: AuditReport, { colors, columns }: LineStyle): readonly string[] {
  const { findings, unread } = report;
  const lines = [colors.bold(summaryOf(report)), ...agentsOf(report).map((line) => `  ${line}`), ''];
  for (const finding of findings) {
    const { verdict, policy, calls, reason } = finding;
    const word = verdict === 'deny' ? colors.red('denied') : colors.yellow('asked ');
    lines.push(`  ${word} ${String(calls).padStart(5)}  ${policy}`);
    for (const text of [aboutOf(finding), reason])
      lines.push(`                ${colors.dim(fitColumns(toPrintable(text), columns - 17))}`);
  }
  lines.push(...notesOf(report).flatMap((note) => ['', note]));
  for (const { path, lines: count } of unread.slice(0, 5))
    lines.push(colors.dim(`${formatCount(count, 'line')} of ${toPrintable(path)} could not be read.`));
  return lines;
}

/** The report as a page of its own. */
export function auditToHtml(report: AuditReport): string {
  const title = 'What the guard would have done';
  const rows = report.findings.map(
    (
      finding,
    ) => html`<tr><td><span class="mark ${finding.verdict === 'deny' ? 'bad' : 'doubt'}">${finding.verdict === 'deny' ? 'denied' : 'asked'}</span></td><td class="number">${finding.calls.toLocaleString('en-GB')}</td><td class="number">${finding.sessions.toLocaleString('en-GB')}</td><td>${finding.policy}</td><td><ul>${finding.about.map(({ text, calls }) => html`<li><code><bdi>${text}</bdi></code>${calls > 1 ? ` ${calls} times` : ''}</li>`)}</ul><p class="note"><bdi>${finding.reason}</bdi></p></td></tr>
`,
  );
  const table = html`<div class="table"><table><thead><tr><th scope="col">Verdict</th><th scope="col">Calls</th><th scope="col">Sessions</th><th scope="col">Policy</th><th scope="col">Calls were about, and why</th></tr></thead>
<tbody>${rows}</tbody></table></div>
`;
  const body: Html = html`<header><h1>${title}</h1><p>${summaryOf(report)}</p></header>
<main>
<ul>${agentsOf(report).map((line) => html`<li>${line}</li>`)}</ul>
${report.findings.length === 0 ? nothing : table}${notesOf(report).map((note) => html`<p>${note}</p>`)}</main>
`;
  return documentOf(title, body);
}

function summaryOf({ calls, sessions, denied, asked, allowed, fromMs, toMs }: AuditReport): string {
  const between = fromMs === undefined || toMs === undefined ? '' : `, ${dayOf(fromMs)} to ${dayOf(toMs)}`;
  return `${formatCount(calls, 'call')} of ${formatCount(sessions, 'session')}${between}: ${numbered(denied, 'denied')}, ${numbered(asked, 'asked')}, ${numbered(allowed, 'let through')}.`;
}

function agentsOf({ agents }: AuditReport): readonly string[] {
  return agents.map(
    ({ agent, calls, sessions, denied, asked }) =>
      `${agent}: ${formatCount(calls, 'call')} of ${formatCount(sessions, 'session')}, ${numbered(denied, 'denied')}, ${numbered(asked, 'asked')}`,
  );
}

function notesOf({ questions, agents, denied, asked }: AuditReport): readonly string[] {
  return [
    ...(questions === undefined
      ? []
      : [
          `Your agents asked you about ${formatCount(questions.shown, 'call')} that the transcripts show; the guard would have let ${questions.needless} of them through.`,
        ]),
    ...(denied + asked === 0
      ? []
      : [
          `To stop such calls before they run: ${agents.map(({ agent }) => `holdfast guard install ${agent}`).join(', ')}`,
        ]),
  ];
}

function aboutOf({ about }: AuditFinding): string {
  return about.map(({ text, calls }) => (calls > 1 ? `${text} (${calls})` : text)).join(', ');
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

function numbered(count: number, word: string): string {
  return formatCount(count, word, word);
}
