// `npm run pictures`: draws the pictures of the studio in the guide, from made-up sessions, in Chromium (`CHROMIUM=path`).
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CallFacts, Clock, PendingApproval } from '@holdfast/core';
import { buildPage, launchChromium } from './test-browser.ts';
import { callEnd, pendingApproval } from './test-events.ts';
import { writeLog } from './test-log.ts';
import { askToWrite, openTestStudio } from './test-studio.ts';

const target = fileURLToPath(new URL('../../../docs/guide/recordings/', import.meta.url));
// When the logs of tests begin.
const startMs = Date.UTC(2026, 4, 17);
const clock: Clock = { now: () => startMs + 75_000, after: () => () => undefined };
const none: CallFacts = { runs: [], reads: [], writes: [], deletes: [], hosts: [], untrusted: false, unclear: [] };

const shell = (callId: string, command: string, atMs: number, durationMs: number) =>
  callEnd('ok', {
    callId,
    name: 'bash',
    rawArguments: { command },
    input: { command },
    decisions: [{ policy: 'holdfast/fact-rules', type: 'allow' }],
    startedAtMs: startMs + atMs,
    durationMs,
  });

const denied = (callId: string, command: string, reason: string) =>
  callEnd('denied', {
    callId,
    name: 'bash',
    code: 'policy.denied',
    message: `Denied: ${reason}`,
    rawArguments: { command },
    input: { command },
    decisions: [{ policy: 'holdfast/fact-rules', type: 'deny', reason }],
    facts: { ...none, reads: [{ path: '/home/anna/shop/.env', inside: true }] },
    startedAtMs: startMs + 9_000,
    durationMs: 2,
  });

const install: PendingApproval = pendingApproval({
  callId: 'toolu_01H5',
  name: 'bash',
  dangerous: false,
  input: { command: 'npm install left-pad' },
  asks: [
    {
      policy: 'holdfast/fact-rules',
      type: 'ask',
      reason: '`npm install` installs `left-pad`, which is not in the lockfile.',
    },
  ],
  facts: {
    ...none,
    runs: [
      {
        program: 'npm',
        arguments: ['install', 'left-pad'],
        folder: '/home/anna/shop',
        environment: [],
        decides: true,
        background: false,
        after: [],
        written: false,
      },
    ],
    hosts: [{ scheme: 'https', host: 'registry.npmjs.org', sends: false }],
    untrusted: true,
  },
});

const calls = [
  shell('toolu_01A1', 'git status --short', 1_000, 45),
  shell('toolu_01B2', 'npm test', 3_000, 5_400),
  denied('toolu_01C3', 'cat .env', '`.env` holds secrets.'),
  shell('toolu_01D4', 'npm run build', 11_000, 9_800),
];

// A name that reads well in the pictures.
const folder = join(tmpdir(), 'shop');
await mkdir(join(folder, 'src'), { recursive: true });
await writeFile(join(folder, 'src/price.ts'), 'export const tax = 0.19;\nexport const fee = 2;\n');
await writeLog(folder, 'claude-code-7f3a', calls);
const asking = { ...install, expiresAtMs: startMs + 615_000 };
await writeLog(folder, 'codex-19b2', [
  shell('c1', 'ls src', 30_000, 12),
  { type: 'approval-request', pending: asking },
]);
const content = 'export const tax = 0.21;\nexport const fee = 2;\n';
await askToWrite(folder, {
  id: 'tidy-up',
  path: 'src/price.ts',
  content,
  clock: { ...clock, now: () => startMs + 60_000 },
});
const home = join(folder, 'home');
await using studio = await openTestStudio(
  { directory: folder, environment: { HOLDFAST_HOME: home }, clock },
  await buildPage(),
);
const browser = await launchChromium();
try {
  const pictures = [
    { name: 'inbox-light', theme: 'light', width: 1100, height: 980, hash: '#/' },
    { name: 'inbox-phone', theme: 'light', width: 390, height: 844, hash: '#/' },
    { name: 'calls-dark', theme: 'dark', width: 1100, height: 700, hash: '#/calls' },
    { name: 'session-light', theme: 'light', width: 1100, height: 760, hash: '' },
  ] as const;
  for (const { name, theme, width, height, hash } of pictures) {
    const context = await browser.newContext({
      colorScheme: theme,
      viewport: { width, height },
      timezoneId: 'UTC',
      locale: 'en-GB',
    });
    const tab = await context.newPage();
    await tab.clock.setFixedTime(clock.now());
    await tab.goto(studio.link);
    const session = tab.locator('a[href^="#/session/"]').first();
    await session.waitFor();
    if (hash === '') {
      await tab.evaluate(`location.hash = '#/calls'`);
      await tab
        .locator('.list')
        .getByRole('link', { name: /npm test/ })
        .click();
      await tab.getByRole('link', { name: 'claude-code-7f3a' }).click();
    } else await tab.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await tab.locator('.card, .list li, dl, svg').first().waitFor();
    await tab.screenshot({ path: join(target, `studio-${name}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
  await rm(folder, { recursive: true });
}
