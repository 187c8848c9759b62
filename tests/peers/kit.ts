import {
  type ExecutorLack,
  type ExecutorProgram,
  type ExecutorRun,
  executorConformance,
} from '@holdfast/testing/conformance';
import { type ChatServer, type ServedCall, startChatServer } from './chat-server.ts';

/** The model of a run: the server, or what a model of the framework's own says. */
interface Served extends Pick<ChatServer, 'url' | 'requests'> {
  readonly calls: readonly ServedCall[];
}

/** A program of `programs/kit`. */
export interface KitDriver {
  readonly name: string;
  /** Those whose versions the table names. */
  readonly packages: readonly string[];
  /** Why the peer cannot be put in a situation. */
  readonly without: Readonly<Partial<Record<ExecutorLack, string>>>;
  run(
    program: Pick<ExecutorProgram, 'save' | 'rule' | 'deadlineMs'>,
    server: Served,
    /** Stored by an earlier run, whose question is now answered with yes. */
    stored?: unknown,
  ): Promise<{ readonly staged?: readonly string[]; readonly waiting: unknown }>;
}

const lacks: readonly ExecutorLack[] = ['ids', 'rules', 'approvals', 'deadlines', 'state'];

export interface Situation {
  readonly name: string;
  readonly needs: ExecutorLack | undefined;
}

/** The kit's situations, and what each needs. */
export function listSituations(): readonly Situation[] {
  const skips = lacks.map((needs) => {
    const checks = executorConformance({ run: () => Promise.reject(new Error('Not run.')), without: [needs] });
    return { needs, checks };
  });
  const [{ checks } = { checks: [] }] = skips;
  return checks.map(({ name }, index) => ({
    name,
    needs: skips.find((skip) => skip.checks[index]?.skipped !== undefined)?.needs,
  }));
}

export interface Seen {
  readonly situation: string;
  readonly cell: 'held' | 'not held' | 'cannot be asked';
  readonly why?: string;
}

/** Puts a peer in the kit's situations, one after the other. */
export async function runKit(driver: KitDriver): Promise<readonly Seen[]> {
  const servers: ChatServer[] = [];
  const run = async (program: ExecutorProgram): Promise<ExecutorRun> => {
    const server = await startChatServer(program.calls, { once: true });
    servers.push(server);
    return go(driver, program, server);
  };
  const seen: Seen[] = [];
  const situations = listSituations();
  const without = lacks.filter((lack) => driver.without[lack] !== undefined);
  for (const [index, { name: situation, skipped, run: check }] of executorConformance({ run, without }).entries()) {
    const needs = situations[index]?.needs;
    if (skipped !== undefined && needs !== undefined) {
      seen.push({ situation, cell: 'cannot be asked', why: driver.without[needs] ?? skipped });
      continue;
    }
    try {
      await check();
      seen.push({ situation, cell: 'held' });
    } catch (thrown) {
      seen.push({ situation, cell: 'not held', why: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }
  for (const server of servers) await server[Symbol.asyncDispose]();
  return seen;
}

async function go(
  driver: KitDriver,
  program: ExecutorProgram,
  server: ChatServer,
  stored?: unknown,
): Promise<ExecutorRun> {
  const { staged = [], waiting } = await limit(driver.run(program, { ...server, calls: program.calls }, stored));
  const [, second = []] = server.requests;
  return {
    finished: server.requests.length === 2,
    told: second.flatMap(({ role, content }) => (role === 'tool' ? [textOf(content)] : [])),
    staged,
    approve: () => go(driver, program, server, waiting),
  };
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

const limitMs = 10_000;

/** A run that is left to itself forever is an answer, too. */
async function limit<Value>(running: Promise<Value>): Promise<Value> {
  const stop = Promise.withResolvers<never>();
  const timer = setTimeout(() => stop.reject(new Error(`The run had not ended after ${limitMs / 1000} s.`)), limitMs);
  try {
    return await Promise.race([running, stop.promise]);
  } finally {
    clearTimeout(timer);
  }
}
