import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { endedNode, nodeTrace, planTrace } from '../testing/test-plan-events.ts';
import { planText, planTools } from '../testing/test-plans.ts';
import { type Ended, runHere } from '../testing/test-program.ts';
import { createPlanSummary } from './summary.ts';

function inFolder({ path }: TestFolder) {
  return (...argv: readonly string[]): Promise<Ended> => runHere(argv, { directory: path });
}

test('what can be done next is said of a plan that was only shown, and of one that is not there', async () => {
  await using folder = await createFolder({ 'a.txt': 'a\n', 'none.json': '{"status":"error","error":"No tool."}' });
  const holdfast = inFolder(folder);
  expect((await holdfast('plan', 'Read a.txt')).stdout).toMatch(/\nTo run it: .*`--run`; `--output FILE` keeps it/);
  expect((await holdfast('plan', 'Read a.txt', '--run')).stdout).not.toContain('To run it');
  const { stderr } = await holdfast('plan', 'Sing a song.');
  expect(stderr).toMatch(/\(plan\.declined\)\n {2}hint: .*`holdfast list`.*`--tools DIR`.*`--model NAME`/);
  expect((await holdfast('plan', 'run', 'none.json')).stderr).toContain('There is no plan: No tool. (plan.declined)');
});

test('where a plan names tools that are missing, and so is the folder of tools, both are told', async () => {
  const files = { 'p.json': planText({ id: 0, tool: 'act' }), 'q.json': planText({ id: 0, tool: 'gone' }) };
  const advice = 'There is no tools folder `./plugins`; `--tools DIR` names another.';
  await using bare = await createFolder(files);
  expect((await inFolder(bare)('plan', 'run', 'p.json')).stderr).toContain(`\n${advice}\n`);
  expect((await inFolder(bare)('plan', 'check', 'p.json')).stdout).toContain(`\n${advice}\n\ninvalid  1 violation`);
  await using full = await createFolder({ ...files, ...planTools });
  expect((await inFolder(full)('plan', 'run', 'q.json')).stderr).not.toContain('tools folder');
});

test('that nobody will be there to be asked is not contradicted', async () => {
  await using folder = await createFolder({ ...planTools, 'p.json': planText({ id: 'w', tool: 'wipe' }) });
  const ran = await inFolder(folder)('plan', 'run', 'p.json', '--unattended');
  expect(ran.stdout).toContain('This node needs approval:\n  ? w  wipe  dangerous');
  expect(ran.stdout).toContain('Nobody was asked (--unattended was given)');
  const [id = ''] = /\d{8}-\d{9}-\w+/.exec(ran.stdout) ?? [];
  expect((await inFolder(folder)('pending', id)).stdout).toBe(`Session ${id}\nNothing waits in it.\n`);
});

test('nodes that had not begun when a run was stopped are counted, not listed', () => {
  const stopped = endedNode('a', { kind: 'cancelled', code: 'call.aborted', message: '`fetch` was cancelled.' });
  const unbegun = ['b', 'c'].map((id) => nodeTrace(id, { kind: 'cancelled', code: 'plan.aborted', message: 'No.' }));
  const style = { colors: createColors(false), columns: 80 };
  const text = createPlanSummary([], {})
    .describe(planTrace([stopped, ...unbegun], { status: 'aborted' }), style, undefined)
    .join('\n');
  expect(text).toContain(
    '  cancelled  a  fetch\n    | `fetch` was cancelled. (call.aborted)\n  2 nodes had not begun.\n',
  );
  expect(text).not.toContain('plan.aborted');
});
