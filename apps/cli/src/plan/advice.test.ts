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

test('suggests next steps for a plan that was only shown, and for a missing one', async () => {
  await using folder = await createFolder({ 'a.txt': 'a\n', 'none.json': '{"status":"error","error":"No tool."}' });
  const holdfast = inFolder(folder);
  expect((await holdfast('plan', 'Read a.txt')).stdout).toMatch(
    /\nRun it with: `--run`, or save it with `--output FILE`/,
  );
  expect((await holdfast('plan', 'Read a.txt', '--run')).stdout).not.toContain('Run it with');
  const { stderr } = await holdfast('plan', 'Sing a song.');
  expect(stderr).toMatch(/\(plan\.declined\)\n {2}hint: .*`holdfast list`.*`--tools DIR`.*`--model NAME`/);
  expect((await holdfast('plan', 'run', 'none.json')).stderr).toContain('No plan: No tool. (plan.declined)');
});

test('a plan with unknown tools and no tools folder: reports both', async () => {
  const files = { 'p.json': planText({ id: 0, tool: 'act' }), 'q.json': planText({ id: 0, tool: 'gone' }) };
  const advice = 'Tools folder `./plugins` does not exist; use `--tools DIR` for another one.';
  await using bare = await createFolder(files);
  expect((await inFolder(bare)('plan', 'run', 'p.json')).stderr).toContain(`\n${advice}\n`);
  expect((await inFolder(bare)('plan', 'check', 'p.json')).stdout).toContain(`\n${advice}\n\ninvalid  1 violation`);
  await using full = await createFolder({ ...files, ...planTools });
  expect((await inFolder(full)('plan', 'run', 'q.json')).stderr).not.toContain('tools folder');
});

test('the check does not promise that anybody will be asked', async () => {
  await using folder = await createFolder({ ...planTools, 'p.json': planText({ id: 'w', tool: 'wipe' }) });
  const ran = await inFolder(folder)('plan', 'run', 'p.json', '--unattended');
  expect(ran.stdout).toContain('This node needs approval:\n  ? w  wipe  dangerous');
  expect(ran.stdout).toContain('Denied without asking (--unattended is set)');
  const [id = ''] = /\d{8}-\d{9}-\w+/.exec(ran.stdout) ?? [];
  expect((await inFolder(folder)('pending', id)).stdout).toBe(`Session ${id}\nNothing is pending.\n`);
});

test('nodes that had not started when a run was stopped are counted, not listed', () => {
  const stopped = endedNode('a', { kind: 'cancelled', code: 'call.aborted', message: '`fetch` was cancelled.' });
  const unbegun = ['b', 'c'].map((id) => nodeTrace(id, { kind: 'cancelled', code: 'plan.aborted', message: 'No.' }));
  const style = { colors: createColors(false), columns: 80 };
  const text = createPlanSummary([], {})
    .describe(planTrace([stopped, ...unbegun], { status: 'aborted' }), style, undefined)
    .join('\n');
  expect(text).toContain(
    '  cancelled  a  fetch\n    | `fetch` was cancelled. (call.aborted)\n  2 nodes had not started.\n',
  );
  expect(text).not.toContain('plan.aborted');
});
