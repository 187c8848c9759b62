// Measures the page of the studio with the calls of many sessions, and prints the figures as JSON: `npm run bench -- studio` starts it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPage, hasChromium, launchChromium } from './test-browser.ts';
import { callEnd } from './test-events.ts';
import { writeLog } from './test-log.ts';
import { openTestStudio, type TestStudio } from './test-studio.ts';

/** As the benchmarks print them. */
interface Figure {
  readonly name: string;
  readonly value: number;
  readonly min?: number;
  readonly max?: number;
  readonly unit: string;
  readonly goal?: number;
}

const sessions = 20;
const paintGoalMs = 1_000;
const filterGoalMs = 200;
const tools = ['read_file', 'write_file', 'bash', 'web_fetch', 'search_files'] as const;
const filters = ['tool=bash', 'decision=deny', 'outcome=denied', 'text=step%2099', 'text=left-pad'] as const;

async function writeSession(workspace: string, session: number, calls: number): Promise<void> {
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
  await writeLog(workspace, `session-${session}`, entries);
}

async function measureRequests(directory: string, count: number): Promise<readonly Figure[]> {
  await using studio = await openTestStudio({ directory });
  const first = await timed(() => studio.read('calls?limit=100'));
  const asked = await timed(() => askAll(studio));
  return [
    { name: `first read of ${count.toLocaleString('en')} records`, value: round(first.ms), unit: 'ms' },
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

async function measurePage(directory: string, count: number): Promise<readonly Figure[]> {
  const page = await buildPage();
  await using studio = await openTestStudio({ directory }, page);
  const browser = await launchChromium();
  try {
    const tab = await browser.newPage();
    await tab.goto(studio.link);
    const paint = await tab.evaluate<number>(
      `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries()[0].startTime)).observe({ type: 'paint', buffered: true }))`,
    );
    await tab.evaluate(`location.hash = '#/calls'`);
    await tab.locator('.list li').first().waitFor({ timeout: 60_000 });
    await tab.getByText(`${count.toLocaleString('en-US')} calls`).waitFor();
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

const records = Number(process.argv[2] ?? 100_000);
const folder = mkdtempSync(join(tmpdir(), 'holdfast-studio-speed-'));
try {
  for (let session = 0; session < sessions; session += 1) await writeSession(folder, session, records / sessions);
  const read = await measureRequests(folder, records);
  console.log(JSON.stringify(hasChromium ? [...read, ...(await measurePage(folder, records))] : read));
} finally {
  rmSync(folder, { recursive: true });
}
