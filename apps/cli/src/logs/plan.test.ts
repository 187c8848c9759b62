import { stripVTControlCharacters } from 'node:util';
import { planSlice } from '@holdfast/planning';
import { createSession, type Session } from '@holdfast/session';
import { createJsonlLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { replaySession } from '../commands/look/replay.ts';
import { showSession } from '../commands/look/show.ts';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost, type TestHostOptions } from '../testing/test-host.ts';
import { writeLog } from '../testing/test-log.ts';
import { prepareLogPath } from '../workspace/session-logs.ts';

/** Writes a log as a planning program leaves it. */
async function writePlan(workspace: string, write: (session: Session) => void): Promise<void> {
  const session = createSession({ id: 'one', store: createJsonlLog(await prepareLogPath(workspace, 'one')) });
  session.read(planSlice);
  write(session);
  await session.close();
}

function dispatchPlan(session: Session, titles: readonly string[]): void {
  session.dispatch({ type: 'planning/plan-set-up', payload: { objective: 'Release 1.2.0', titles } });
  session.dispatch({ type: 'planning/step-updated', payload: { step_id: 1, status: 'done' } });
}

async function show(workspace: string, terminal: TestHostOptions = {}) {
  const { host, stdout } = createTestHost({ directory: workspace, ...terminal });
  const exitCode = await showSession({ id: undefined, workspace: '.', json: false }, host);
  return { exitCode, text: stdout() };
}

async function replay(workspace: string) {
  const { host, stdout } = createTestHost({ directory: workspace });
  const exitCode = await replaySession({ id: undefined, workspace: '.', at: undefined, json: true }, host);
  return { exitCode, state: JSON.parse(stdout()) };
}

test('the plan of a session is shown after its records, and replayed', async () => {
  await using folder = await createFolder();
  await writePlan(folder.path, (session) => dispatchPlan(session, ['Test', 'Write']));
  const { exitCode, text } = await show(folder.path);
  expect(exitCode).toBe(0);
  expect(text).toMatch(
    /\n\nPlan {2}Release 1\.2\.0 {2}active, 1\/2 done\n {2}\[x\] 1\. Test\n {2}\[ \] 2\. Write\n\n\d+ records, /,
  );
  expect(await replay(folder.path)).toMatchObject({
    exitCode: 0,
    state: { missing: [], slices: [{ id: 'planning/plan', state: { objective: 'Release 1.2.0', status: 'active' } }] },
  });
});

test('a session without a plan', async () => {
  await using folder = await createFolder();
  await writePlan(folder.path, (session) => session.record({ type: 'note' }));
  expect((await show(folder.path)).text).not.toContain('Plan');
  expect((await replay(folder.path)).exitCode).toBe(0);
});

test('on a terminal it is colored and fitted, with control characters escaped', async () => {
  await using folder = await createFolder();
  await writePlan(folder.path, (session) => dispatchPlan(session, ['Clear\x1b[2J', `Write ${'word '.repeat(20)}`]));
  const { text } = await show(folder.path, { terminals: ['stdout'], columns: 40 });
  expect(text).toContain('\x1b[2m[x] 1. Clear\\x1b[2J\x1b[0m');
  expect(text).not.toContain('\x1b[2J');
  const lines = stripVTControlCharacters(text).split('\n');
  const [step = '', rest = ''] = lines.slice(lines.findIndex((line) => line.startsWith('  [ ] 2. Write')));
  expect(rest).toMatch(/^ {2}\| word/);
  expect(step.length).toBeLessThan(40);
  expect((await show(folder.path, { terminals: ['stdout'], environment: { NO_COLOR: '1' } })).text).not.toContain(
    '\x1b',
  );
});

const declaration = { id: 'planning/plan', kind: 'value', retention: 'state', initial: null };

test('a plan that cannot be rebuilt is reported, and everything else is shown', async () => {
  await using folder = await createFolder();
  const events = [{ type: 'planning/step-updated', payload: { step_id: 1, status: 'done' } }];
  await writeLog(folder.path, 'one', [{ type: 'event', events }], [{ ...declaration, events: [events[0]?.type] }]);
  const { exitCode, text } = await show(folder.path);
  expect(exitCode).toBe(0);
  expect(text).toContain('event planning/step-updated');
  expect(text).toMatch(/\nCannot rebuild the plan of the session: Record 1 .+\n\n2 records, /);
});

test.each([
  { what: 'other events', slice: { ...declaration, events: ['planned'] } },
  {
    what: 'a different kind',
    slice: { id: 'planning/plan', kind: 'list', retention: 'state', events: ['planning/steps-added'] },
  },
  { what: 'a different initial state', slice: { ...declaration, initial: 0, events: ['planning/steps-added'] } },
  { what: 'a different retention', slice: { ...declaration, retention: 'log', events: ['planning/steps-added'] } },
])('a slice that only shares the name is ignored: $what', async ({ slice }) => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [{ type: 'note' }], [slice]);
  const { exitCode, text } = await show(folder.path);
  expect(exitCode).toBe(0);
  expect(text).not.toContain('lan ');
  expect(await replay(folder.path)).toMatchObject({ exitCode: 1, state: { missing: [{ id: 'planning/plan' }] } });
});
