// Opens the studio of a home in Chromium, approves the first question there, and prints what was seen as lines of JSON, for tests with real
// agents: `node test-answering.ts HOME WORKSPACE`.
import { buildPage, launchChromium } from './test-browser.ts';
import { openTestStudio } from './test-studio.ts';

const [, , home = '', workspace = ''] = process.argv;
const tell = (told: object): void => console.log(JSON.stringify(told));
const environment = { HOME: home, HOLDFAST_HOME: undefined };
await using studio = await openTestStudio({ directory: workspace, environment }, await buildPage());
const browser = await launchChromium();
try {
  const tab = await browser.newPage();
  tab.setDefaultTimeout(120_000);
  await tab.goto(studio.link);
  await tab.getByText('A call that needs a person appears here by itself').waitFor();
  tell({ type: 'ready' });
  await tab.getByText('1 call waits for an answer.').waitFor();
  const seenAtMs = Date.now();
  const { questions } = (await studio.read('inbox')) as {
    readonly questions: readonly { readonly askedAtMs: number }[];
  };
  const card = await tab.locator('.card').textContent();
  tell({ type: 'shown', card, afterMs: seenAtMs - (questions[0]?.askedAtMs ?? 0) });
  await tab.getByRole('button', { name: 'Approve once' }).click();
  await tab.getByText('Approved once.').waitFor();
  await tab.locator('.card a[href^="#/session/"]').click();
  // The call has ended, and the page shows it by itself.
  const bar = tab.locator('svg a', { has: tab.locator('rect.bar') });
  const title = bar.locator('title', { hasText: 'asked: approved by person' });
  await title.waitFor({ state: 'attached' });
  const timeline = await title.textContent();
  await bar.locator('rect').first().click();
  await tab.getByRole('heading', { name: 'Why' }).waitFor();
  tell({ type: 'ended', timeline, why: await tab.locator('dl').textContent() });
} finally {
  await browser.close();
}
