import {
  defineTool,
  HoldfastError,
  type Outcome,
  type Policy,
  type StandardSchema,
  type Tool,
  toolError,
} from '@holdfast/core';
import { executeToolCall, type Suspended } from '@holdfast/executor';
import { createSession, type Session, type SessionExport } from '@holdfast/session';
import { type ManualClock, manualClock } from '../fakes/manual-clock.ts';
import type { PolicyAnswer } from './answer.ts';
import type { PolicyCall, PolicyStep, PolicyTesterOptions } from './cases.ts';
import { type Watching, watchPolicy } from './watch.ts';

/** A session with one policy in force, from its start or from where another one was. */
export interface PolicyWorld {
  readonly session: Session;
  readonly clock: ManualClock;
  readonly resources: Readonly<Record<string, unknown>>;
  /** What was found wrong with the policy by watching it. */
  readonly problems: readonly string[];
  /** Does what comes before a case. @throws HoldfastError `conformance.failed` when it ends otherwise than it should. */
  take(step: PolicyStep): Promise<void>;
  /** Puts a call; nobody is there to be asked. */
  ask(call: PolicyCall): Promise<Asked>;
  /** Makes a call that everybody approves of, on things of its own, whatever comes of it. */
  disturb(call: PolicyCall, how: 'succeeding' | 'failing'): Promise<void>;
}

export interface Asked {
  /** `undefined`: the policy was not asked, or did not answer in time. */
  readonly answer: PolicyAnswer | undefined;
  readonly outcome: Outcome | Suspended;
}

export interface WorldStart {
  readonly watching?: Watching;
  /** A world to go on from: what its session has saved, its time and its things, with a policy that is new. */
  readonly from?: {
    readonly saved: SessionExport;
    readonly clock: ManualClock;
    readonly resources: PolicyWorld['resources'];
  };
}

// Nothing depends on it; a date, so that a policy that shows one shows a real one.
const startMs = Date.UTC(2026, 0, 1);
// Far more than a policy needs, and less than test runners give a test.
const policyTimeoutMs = 3_000;

export function createPolicyWorld(
  options: PolicyTesterOptions,
  { watching = 'plainly', from }: WorldStart = {},
): PolicyWorld {
  const clock = manualClock(from?.clock.now() ?? startMs);
  const watched = watchPolicy(createPolicy(options, clock), watching);
  const session = createSession({ clock });
  if (from !== undefined) session.import(from.saved);
  const resources = from?.resources ?? options.resources?.() ?? {};
  const tools = options.tools ?? stubTools(options, watched.policy);
  const failingTools = tools.map((tool) => ({ ...tool, execute: () => toolError('It fails, as it has to.') }));
  const { facts } = options;
  const shared = { session, policies: [watched.policy], policyTimeoutMs, ...(facts === undefined ? {} : { facts }) };

  return {
    session,
    clock,
    resources,
    problems: watched.problems,
    async take(step) {
      if ('waitMs' in step) {
        clock.advance(step.waitMs);
        return;
      }
      const { outcome: expected = 'ok' } = step;
      const isStub = options.tools === undefined;
      const ended = await executeToolCall(toCall(step), {
        ...shared,
        approve: () => ({ type: expected === 'denied' ? 'deny' : 'approve' }),
        tools: isStub && expected === 'failed' ? failingTools : tools,
        resources,
      });
      if (ended.kind === expected) return;
      throw new HoldfastError(
        'conformance.failed',
        `Before the case, ${describeCall(step)} should have ended as \`${expected}\`, and ended as \`${ended.kind}\`${
          ended.kind === 'suspended' ? '' : `: ${ended.message}`
        }.`,
      );
    },
    async ask(call) {
      watched.forget();
      const outcome = await executeToolCall(toCall(call), { ...shared, tools, resources });
      return { answer: watched.last(), outcome };
    },
    async disturb(call, how) {
      await executeToolCall(toCall(call), {
        ...shared,
        approve: () => ({ type: 'approve' }),
        tools: how === 'failing' ? failingTools : tools,
        resources: options.resources?.() ?? {},
      });
    },
  };
}

function createPolicy({ create }: PolicyTesterOptions, clock: ManualClock): Policy {
  const policy: Policy | undefined = create({ clock });
  if (typeof policy?.check === 'function') return policy;
  throw new HoldfastError('options.invalid', '`create` must return a policy, made by `definePolicy`.');
}

export function describeCall({ tool, input = {} }: PolicyCall): string {
  const text = JSON.stringify(input);
  return `\`${tool} ${text.length > 200 ? `${text.slice(0, 200)}…` : text}\``;
}

function toCall({ tool, input = {} }: PolicyCall): { readonly name: string; readonly arguments: unknown } {
  return { name: tool, arguments: input };
}

/** One for each name in the cases, and for each that the policy mentions: takes any arguments, and succeeds. */
function stubTools({ cases }: PolicyTesterOptions, policy: Policy): readonly Tool[] {
  const steps = cases.flatMap(({ after = [], call }) => [...after, call]);
  const names = steps.flatMap((step) => ('tool' in step ? [step.tool] : []));
  return [...new Set([...names, ...policy.tools])].map((name) =>
    defineTool({
      name,
      description: 'Stands in for a tool.',
      inputSchema: anyObject,
      effects: 'state',
      execute: () => null,
    }),
  );
}

export const anyObject: StandardSchema = {
  '~standard': {
    version: 1,
    vendor: 'holdfast',
    validate: (value) => ({ value }),
    // As the standard for JSON Schema has it; our part of Standard Schema does not name it.
    ...{ jsonSchema: { input: () => ({ type: 'object', additionalProperties: true }) } },
  },
};
