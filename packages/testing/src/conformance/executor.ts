import { HoldfastError } from '@holdfast/core';
import { type ConformanceCheck, same, toConformanceCheck } from './check.ts';

/** A call as a model writes it. */
export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  /** As text: it need not be JSON. */
  readonly arguments: string;
}

/**
 * A program for an executor: one tool, `save`, with the one argument `text`, and a model that makes `calls` in its first message and ends
 * with a text in its second.
 */
export interface ExecutorProgram {
  readonly calls: readonly WrittenCall[];
  /** The body of `save`. `stage`: adds to state of the executor's that rolls back, if it has any. */
  readonly save: (text: string, stage: (text: string) => void) => string | Promise<string>;
  /** A rule about each call, in the executor's own way: a person has to approve it, or the rule throws. */
  readonly rule?: 'asks' | 'throws';
  /** The most time that `save` may take: the driver's clock passes it once `save` has begun. */
  readonly deadlineMs?: number;
}

export interface ExecutorRun {
  /** The model was asked for its second message. */
  readonly finished: boolean;
  /** The results that the model read, in the order of the calls. */
  readonly told: readonly string[];
  /** The state that `stage` added to. */
  readonly staged?: readonly string[];
  /** Approves the call that waits and goes on, in a new executor that has only what the first one stored. */
  readonly approve?: () => Promise<ExecutorRun>;
}

/** A situation that an executor cannot be put in; `ids`: its model's client gives each call an id of its own. */
export type ExecutorLack = 'ids' | 'rules' | 'approvals' | 'deadlines' | 'state';

export interface ExecutorConformanceOptions {
  readonly run: (program: ExecutorProgram) => Promise<ExecutorRun>;
  /** Situations that the executor has no way to be in. Default: none. */
  readonly without?: readonly ExecutorLack[];
}

interface Situation {
  readonly name: string;
  readonly needs?: ExecutorLack;
  check(run: ExecutorConformanceOptions['run']): Promise<void>;
}

const good: WrittenCall = { id: 'call-1', name: 'save', arguments: '{"text":"a"}' };

/** Runs `calls` to the end with a body that only counts, and requires so many runs of it. */
function counts(runs: number, ...calls: readonly WrittenCall[]): Situation['check'] {
  return async (run) => {
    const saved: string[] = [];
    const save = (text: string): string => {
      saved.push(text);
      return 'saved';
    };
    const ran = await run({ calls, save });
    same('the runs of `save`', saved.length, runs);
    tellsAll(ran, calls.length);
  };
}

/** The run goes on, and the model knows how each call ended. */
function tellsAll({ finished, told }: ExecutorRun, calls: number): void {
  same('whether the run goes on to the second message', finished, true);
  same('the number of results that the model reads', told.filter((text) => text.trim() !== '').length, calls);
}

const situations: readonly Situation[] = [
  {
    name: 'a call with an argument that the tool does not declare does not run',
    check: counts(0, { ...good, arguments: '{"text":"a","dryRun":true}' }),
  },
  {
    name: 'a call whose arguments are not JSON does not run, and the run goes on',
    check: counts(0, { ...good, arguments: '{"text":' }),
  },
  {
    name: 'a call of an unknown tool runs nothing, and the run goes on',
    check: counts(0, { ...good, name: 'constructor' }),
  },
  {
    name: 'two calls of one id run once, and the model reads about both',
    needs: 'ids',
    check: counts(1, good, { ...good, arguments: '{"text":"b"}' }),
  },
  {
    name: 'the model reads why a tool has thrown, and the run goes on',
    async check(run) {
      const save = (): string => {
        throw new Error('The disk is full.');
      };
      const ran = await run({ calls: [good], save });
      tellsAll(ran, 1);
      same('whether the model reads the reason', ran.told[0]?.includes('The disk is full.'), true);
    },
  },
  {
    name: 'a tool that never ends is left at its deadline, and the run goes on',
    needs: 'deadlines',
    async check(run) {
      const save = (): Promise<string> => new Promise(() => undefined);
      tellsAll(await run({ calls: [good], save, deadlineMs: 50 }), 1);
    },
  },
  {
    name: 'a call that was approved after a restart runs once',
    needs: 'approvals',
    async check(run) {
      let runs = 0;
      const save = (): string => {
        runs += 1;
        return 'saved';
      };
      const { approve } = await run({ calls: [good], save, rule: 'asks' });
      same('the runs of `save` before the answer', runs, 0);
      if (approve === undefined)
        throw new HoldfastError('conformance.failed', 'Expected the call to wait for a person.');
      tellsAll(await approve(), 1);
      same('the runs of `save` after the answer', runs, 1);
    },
  },
  {
    name: 'state that a failed call has written is as before',
    needs: 'state',
    async check(run) {
      const save = (text: string, stage: (text: string) => void): string => {
        stage(text);
        throw new Error('The disk is full.');
      };
      const ran = await run({ calls: [good], save });
      tellsAll(ran, 1);
      same('the state', ran.staged, []);
    },
  },
  {
    name: 'a rule that throws denies the call, and the run goes on',
    needs: 'rules',
    async check(run) {
      let runs = 0;
      const save = (): string => {
        runs += 1;
        return 'saved';
      };
      const ran = await run({ calls: [good], save, rule: 'throws' });
      same('the runs of `save`', runs, 0);
      tellsAll(ran, 1);
    },
  },
];

/**
 * Conformance checks for what runs the tool calls of a model: nine situations, for any test runner and any framework, by a driver of one
 * function.
 */
export function executorConformance({ run, without = [] }: ExecutorConformanceOptions): readonly ConformanceCheck[] {
  return situations.map(({ name, needs, check }) => {
    const lacks = needs !== undefined && without.includes(needs);
    return toConformanceCheck(name, lacks ? `the executor is without \`${needs}\`` : undefined, () => check(run));
  });
}
