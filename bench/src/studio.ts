import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPage, hasChromium, launchChromium } from '../../apps/cli/src/testing/test-browser.ts';
import { callEnd } from '../../apps/cli/src/testing/test-events.ts';
import { writeLog } from '../../apps/cli/src/testing/test-log.ts';
import { openTestStudio, type TestStudio } from '../../apps/cli/src/testing/test-studio.ts';
import type { Figure, FigureReport } from './report.ts';

const sessions = 20;
const paintGoalMs = 1_000;
const filterGoalMs = 200;
const tools = ['read_file', 'write_file', 'bash', 'web_fetch', 'search_files'] as const;
const filters = ['tool=bash', 'decision=deny', 'outcome=denied', 'text=step%2099', 'text=left-pad'] as const;

/**
 * What the page of the studio costs with `records` calls of all sessions: the first read of the logs, a filter as the page asks for it (time
 * and CPU time of this process), and in Chromium, where there is one, the first paint and a filter until its rows are drawn.
 */
export async function measureStudio(records = 100_000): Promise<FigureReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-studio-'));
  try {
    for (let session = 0; session < sessions; session += 1) await writeSession(folder, session, records / sessions);
    const read = await measureRequests(folder, records);
    const figures = hasChromium ? [...read, ...(await measurePage(folder, records))] : read;
    return { name: `studio: ${records.toLocaleString('en')} calls in ${sessions} sessions`, figures };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function writeSession(folder: string, session: number, calls: number): Promise<void> {
  const entries = Array.from({ length: calls }, (_, call) => {
    const isDenied = call % 50 === 0;
    const command = `npm run step ${call} -- --with left-pad-${call % 7} of session ${session}`;
    return callEnd(isDenied ? 'denied' : 'ok', {
      callId: `call-${call}`,
      name: tools[call % tools.length] ?? '',
      rawArguments: { command },
      decisions: [{ policy: 'host/p', type: isDenied ? 'deny' : 'allow', ...(isDenied && { reason: 'Never.' }) }],
      message: isDenied ? 'Never.' : '',
      startedAtMs: Date.UTC(2026, 4, 17) + call * 1_000 + session,
    });
  });
  await writeLog(folder, `session-${session}`, entries);
}

async function measureRequests(folder: string, records: number): Promise<readonly Figure[]> {
  await using studio = await openTestStudio({ directory: folder });
  const first = await timed(() => studio.read('calls?limit=100'));
  const asked = await timed(() => askAll(studio));
  return [
    { name: `first read of ${records.toLocaleString('en')} records`, value: round(first.ms), unit: 'ms' },
    { name: '  of that, CPU time', value: round(first.cpuMs), unit: 'ms' },
    {
      name: 'a filter, request and answer',
      ...spread(asked.value),
      unit: 'ms',
      goal: filterGoalMs,
    },
    { name: '  of that, CPU time', value: round(asked.cpuMs / filters.length), unit: 'ms' },
  ];
}

/** The times of all filters, each with another question than before. */
async function askAll(studio: TestStudio): Promise<readonly number[]> {
  const times: number[] = [];
  for (const filter of filters) times.push((await timed(() => studio.read(`calls?limit=100&${filter}`))).ms);
  return times;
}

interface Timed<Value> {
  readonly ms: number;
  readonly cpuMs: number;
  readonly value: Value;
}

async function timed<Value>(work: () => Promise<Value>): Promise<Timed<Value>> {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const value = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - startedAt, cpuMs: (user + system) / 1_000, value };
}

async function measurePage(folder: string, records: number): Promise<readonly Figure[]> {
  const page = await buildPage();
  await using studio = await openTestStudio({ directory: folder }, page);
  const browser = await launchChromium();
  try {
    const tab = await browser.newPage();
    await tab.goto(studio.link);
    const paint = await tab.evaluate<number>(
      `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries()[0].startTime)).observe({ type: 'paint', buffered: true }))`,
    );
    await tab.evaluate(`location.hash = '#/calls'`);
    await tab.locator('.list li').first().waitFor({ timeout: 60_000 });
    await tab.getByText(`${records.toLocaleString('en-US')} calls`).waitFor();
    const times: number[] = [];
    for (const [label, value] of [
      ['Tool', 'bash'],
      ['Tool', ''],
      ['Decision', 'deny'],
      ['Decision', ''],
      ['Outcome', 'denied'],
      ['Outcome', ''],
      ['Search', 'left-pad-3'],
      ['Search', ''],
    ])
      times.push(await tab.evaluate<number>(`(${filterInPage})(${JSON.stringify({ label, value })})`));
    return [
      { name: 'first paint, right after the start', value: round(paint), unit: 'ms', goal: paintGoalMs },
      { name: 'a filter, until its rows are drawn', ...spread(times), unit: 'ms', goal: filterGoalMs },
    ];
  } finally {
    await browser.close();
  }
}

/** A text: these sources are not compiled with the types of a browser. Resolves after the frame that has the new rows. */
const filterInPage = `({ label, value }) => new Promise((resolve) => {
  const field = [...document.querySelectorAll('.filters label')].find((each) => each.firstChild.data === label).lastChild;
  const status = document.querySelector('[role=status]');
  const startedAt = performance.now();
  const before = status.textContent;
  const observer = new MutationObserver(() => {
    if (status.textContent === before || !/call/.test(status.textContent) || document.querySelector('.list li') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedAt)));
  });
  observer.observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });
  field.value = value;
  field.dispatchEvent(new Event(label === 'Search' ? 'input' : 'change', { bubbles: true }));
})`;

function spread(times: readonly number[]): Pick<Figure, 'value' | 'min' | 'max'> {
  const sorted = times.toSorted((one, other) => one - other).map(round);
  return { value: sorted[Math.floor(sorted.length / 2)] ?? 0, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
