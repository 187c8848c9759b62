import { allow, definePolicy, defineTool, type ExecutableTool, type Policy, type Tool } from '@holdfast/core';
import { executeToolCall, runAgent } from '@holdfast/executor';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import { type Against, compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { callValidated, governedFloor, loopValidated } from './floors.ts';
import { argumentsText, counted, inputSchema, lookUp, lookUpAndFail, toolDescription, toolName } from './work.ts';

const callsPerSample = 1_000;

/** The goals of DESIGN 16 for one call and one loop, in CPU time of the process, all threads of it. */
export async function measureGoals(extent: Extent = everything): Promise<TimeReport> {
  const rows = await compare(
    [
      calls({ name: 'validated floor', call: callValidated }),
      calls({ name: 'governed floor', call: governedFloor(false), against: [{ name: 'validated floor' }] }),
      calls({ name: 'governed floor, throws', call: governedFloor(true) }),
      governed({
        name: 'governed',
        against: [
          { name: 'validated floor', goal: 3 },
          { name: 'governed floor', goal: 1.6 },
        ],
      }),
      governed({ name: 'no policy, nobody listens', bare: true, against: [{ name: 'governed' }] }),
      governed({ name: 'throws', tool: throwing, kind: 'failed', against: [{ name: 'governed', goal: 1.5 }] }),
      governed({ name: 'among 5,000 tools', others: 4_999, against: [{ name: 'governed', goal: 1.05 }] }),
      { name: 'loop floor', operations: callsPerSample, prepare: () => () => loopValidated(callsPerSample) },
      loop({ name: '1,000 turns', turns: callsPerSample, against: [{ name: 'loop floor' }, { name: 'governed' }] }),
      loop({ name: '100 calls in a turn', turns: 1, width: 100, against: [{ name: 'validated floor' }] }),
    ],
    { ...limitRounds({ rounds: 60, warmUpRounds: 15 }, extent), now: cpuNow },
  );
  const notes = [
    'CPU time of the process, all threads. governed: two policies without and one with state, one listener.',
    'Goal of 100 calls in a turn: 5 us a call.',
  ];
  return { name: 'call-path: goals', notes, rows };
}

function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1e3;
}

interface Calls {
  readonly name: string;
  readonly against?: readonly Against[];
  readonly call: () => Promise<void>;
}

function calls({ call, ...named }: Calls): Subject {
  return { ...named, operations: callsPerSample, prepare: () => () => repeat(call) };
}

async function repeat(call: () => Promise<void>): Promise<void> {
  const before = counted.calls;
  for (let count = 0; count < callsPerSample; count += 1) await call();
  if (counted.calls !== before + callsPerSample) throw new Error('not every call has run');
}

function declare(execute: typeof lookUp): ExecutableTool {
  return defineTool({ name: toolName, description: toolDescription, inputSchema, effects: 'none', execute });
}

const lookingUp = declare(lookUp);
const throwing = declare(lookUpAndFail);

/** Two that look at the call alone, and one that counts successes. */
function threePolicies(): readonly Policy[] {
  return [
    definePolicy({
      name: 'no-deploy',
      check: ({ tool }) => (tool.name === 'deploy' ? { type: 'deny', reason: 'No.' } : allow),
    }),
    definePolicy({
      name: 'no-write',
      check: ({ tool }) => (tool.name === 'write_file' ? { type: 'deny', reason: 'No.' } : allow),
    }),
    definePolicy({
      name: 'count',
      initialState: 0,
      check: () => allow,
      onResult: (_call, _result, { state }) => state + 1,
    }),
  ];
}

interface Governed {
  readonly name: string;
  readonly against: readonly Against[];
  readonly tool?: Tool;
  /** Default `ok`. */
  readonly kind?: string;
  readonly others?: number;
  /** Without policies and listener. */
  readonly bare?: boolean;
}

/** Direct calls, one after the other, in a session of their own. */
function governed({ name, against, tool = lookingUp, kind = 'ok', others = 0, bare = false }: Governed): Subject {
  const tools: readonly Tool[] = [
    tool,
    ...Array.from({ length: others }, (_, at) =>
      defineTool({ name: `other_${at}`, description: 'Another tool.', effects: 'none', execute: () => null }),
    ),
  ];
  return {
    name,
    against,
    operations: callsPerSample,
    prepare() {
      let heard = 0;
      const onEvent = (): void => {
        heard += 1;
      };
      const listener = { policies: threePolicies(), onEvent };
      const options = { tools, session: createSession(), ...(bare ? {} : listener) };
      return async () => {
        await repeat(async () => {
          const outcome = await executeToolCall({ name: toolName, arguments: argumentsText }, options);
          if (outcome.kind !== kind) throw new Error(`the call ended as \`${outcome.kind}\`, expected \`${kind}\``);
        });
        if (heard !== (bare ? 0 : 2 * callsPerSample)) throw new Error(`the listener heard of ${heard} events`);
      };
    },
  };
}

interface Loop {
  readonly name: string;
  readonly against: readonly Against[];
  readonly turns: number;
  readonly width?: number;
}

function loop({ name, against, turns, width = 1 }: Loop): Subject {
  const runs = Math.max(1, Math.round(callsPerSample / (turns * width)));
  return {
    name,
    against,
    operations: runs * turns * width,
    prepare() {
      const prepared = Array.from({ length: runs }, () => prepareLoop(turns, width));
      return async () => {
        for (const run of prepared) await run();
      };
    },
  };
}

/** Makes everything that a loop needs, untimed, and gives the run. */
function prepareLoop(turns: number, width = 1): () => Promise<void> {
  const script = [
    ...Array.from({ length: turns }, (_, turn) => ({
      calls: Array.from({ length: width }, (__, at) => ({
        id: `c${turn}_${at}`,
        name: toolName,
        arguments: argumentsText,
      })),
    })),
    { text: 'Done.' },
  ];
  const options = {
    model: scriptedModel(script),
    session: createSession(),
    policies: threePolicies(),
    prompt: createPrompt({
      ns: 'bench',
      key: 'loop',
      sections: [markdownSection({ title: 'Entities', template: 'Look the entity up.', tools: [lookingUp] })],
    }),
    input: 'Look the entity up.',
    onEvent: () => undefined,
    maxRounds: turns + 1,
  };
  return async () => {
    const { status, outcomes } = await runAgent(options).result;
    if (status !== 'completed' || outcomes.length !== turns * width)
      throw new Error(`the loop ended as \`${status}\` with ${outcomes.length} calls`);
  };
}
