import { randomUUID } from 'node:crypto';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { defineTool, type Model, type ModelEvent, type Tool } from '@holdfast/core';
import { registerSessionWorkflow } from '@holdfast/driver-dbos';
import { type AdvanceOptions, advance } from '@holdfast/executor';
import { memoryStore } from '@holdfast/session';
import { postgresStore } from '@holdfast/session/postgres';
import type { Pool } from 'pg';
import * as v from 'valibot';
import { compare, type Extent, limitRounds, type Subject } from '../compare.ts';
import type { FigureReport, Report } from '../report.ts';

/** Asks for one call in each turn, then ends. */
function toModel(turns: number): Model {
  return {
    id: 'bench',
    async *stream({ messages }): AsyncGenerator<ModelEvent> {
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      const ends = turn >= turns;
      if (ends) yield { type: 'text-delta', text: 'Done.' };
      else yield { type: 'tool-call', id: `call-${turn}`, name: 'send', arguments: { turn } };
      yield { type: 'finish', reason: ends ? 'stop' : 'tool-calls' };
    },
  };
}

const send = defineTool({
  name: 'send',
  description: 'Sends something.',
  inputSchema: v.object({ turn: v.number() }),
  effects: 'external',
  repeat: 'keyed',
  execute: async ({ turn }) => `Sent ${turn}.`,
}) as Tool;

type Options = Omit<AdvanceOptions, 'input'>;

interface Ways {
  /** Runs a session of so many turns. */
  readonly run: (turns: number) => Promise<void>;
  readonly throughDbos: (turns: number) => Promise<void>;
  readonly inMemory: (turns: number) => Promise<void>;
  /** A workflow of so many steps that do nothing else. */
  readonly steps: (count: number) => Promise<void>;
}

/** Registers what DBOS runs, and starts it in the database of `pool`. */
export async function launch(pool: Pool): Promise<Ways> {
  const toOptions = (turns: number): Options => ({
    model: toModel(turns),
    instructions: 'Send.',
    tools: [send],
    store: postgresStore(pool),
  });
  const turnsOf = (id: string): number => Number(id.split(' ')[0]);
  const session = registerSessionWorkflow({ name: 'session', options: (id) => toOptions(turnsOf(id)) });
  const bare = DBOS.registerWorkflow(
    async (count: number) => {
      for (let step = 0; step < count; step += 1) await DBOS.runStep(async () => `Sent ${step}.`, { name: 'send' });
    },
    { name: 'bare' },
  );
  DBOS.setConfig({
    name: 'bench',
    systemDatabasePool: pool,
    executorID: 'bench',
    applicationVersion: '1',
    logLevel: 'error',
  });
  await DBOS.launch();
  const check = (status: unknown): void => {
    if (status !== 'completed') throw new Error(`a session ended as ${String(status)}`);
  };
  return {
    run: async (turns) => check((await advance(newId(turns), { ...toOptions(turns), input: 'Go.' })).status),
    inMemory: async (turns) => {
      const store = { open: () => ({ records: [], store: memoryStore() }) };
      check((await advance(newId(turns), { ...toOptions(turns), store, input: 'Go.' })).status);
    },
    throughDbos: async (turns) => {
      const id = newId(turns);
      const handle = await DBOS.startWorkflow(session, { workflowID: id })(id, 'Go.');
      check((await handle.getResult({ pollingIntervalMs: 5 })).status);
    },
    steps: async (count) => {
      const handle = await DBOS.startWorkflow(bare)(count);
      await handle.getResult({ pollingIntervalMs: 5 });
    },
  };
}

function newId(turns: number): string {
  return `${turns} ${randomUUID()}`;
}

/** Measures a turn with one call against a bare step, in runs of twenty. */
export async function measureTurns({ run, throughDbos, inMemory, steps }: Ways, extent: Extent): Promise<Report> {
  const count = Math.min(20, extent.largest);
  const subject = (name: string, work: (count: number) => Promise<void>): Subject => ({
    name,
    operations: count,
    ...(name === 'step' ? {} : { against: [{ name: 'step' }] }),
    prepare: () => () => work(count),
  });
  const subjects = [
    subject('step', steps),
    subject('turn in memory', inMemory),
    subject('turn', run),
    subject('turn through DBOS', throughDbos),
  ];
  const rows = await compare(subjects, limitRounds({ rounds: 12, warmUpRounds: 2 }, extent));
  const notes = [
    'step: of a DBOS workflow, its result is committed. turn: a message of the model and a keyed call with external effects; what they',
    'rely on is committed before it is used. through DBOS: all turns in one step. Per step or turn, runs of twenty.',
  ];
  return { name: 'durable: a turn against a step of DBOS', notes, rows };
}

/** Measures how many sessions of two turns end in a second, against workflows of three steps. */
export async function measureSessions({ run, steps }: Ways, extent: Extent): Promise<readonly Report[]> {
  const reports: Report[] = [];
  const figures: FigureReport['figures'][number][] = [];
  for (const callers of [1, 10, 100].filter((atOnce) => atOnce <= extent.largest)) {
    const sessions = callers === 1 ? 10 : 100;
    const subject = (name: string, work: () => Promise<void>, against: Subject['against'] = []): Subject => ({
      name,
      operations: sessions,
      against,
      prepare: () => () => atOnce(callers, Math.min(sessions, extent.largest), work),
    });
    const subjects = [subject('workflow', () => steps(3)), subject('session', () => run(2), [{ name: 'workflow' }])];
    const rows = await compare(subjects, limitRounds({ rounds: 5, warmUpRounds: 1 }, extent));
    const notes = [
      'session: opened, two turns with a call each, closed. workflow: three steps of DBOS. The same pool.',
    ];
    reports.push({ name: `durable: sessions, ${callers} at once`, notes, rows });
    for (const { name, nsPerOperation } of rows)
      figures.push({
        name: `${name}s, ${callers} at once`,
        value: Math.round(1e9 / nsPerOperation.median),
        unit: 'a second',
      });
  }
  return [...reports, { name: 'durable: sessions a second', figures }];
}

async function atOnce(callers: number, count: number, work: () => Promise<void>): Promise<void> {
  let left = count;
  const call = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: Math.min(callers, count) }, call));
}
