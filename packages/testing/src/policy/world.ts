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

/** A session with one policy in force, new or continued from another. */
export interface PolicyWorld {
  readonly session: Session;
  readonly clock: ManualClock;
  readonly resources: Readonly<Record<string, unknown>>;
  /** Faults of the policy detected by watching it. */
  readonly problems: readonly string[];
  /** True if a failed call may make the policy stricter. */
  readonly countsFailures: boolean;
  /** Plays a step before a case. @throws HoldfastError `conformance.failed` if it ends with another outcome. */
  take(step: PolicyStep): Promise<void>;
  /** Makes a call without anyone to approve it. */
  ask(call: PolicyCall): Promise<Asked>;
  /** Makes an approved call on separate resources, and ignores its outcome. */
  disturb(call: PolicyCall, how: 'succeeding' | 'failing'): Promise<void>;
}

export interface Asked {
  /** `undefined`: the policy was not checked, or did not answer in time. */
  readonly answer: PolicyAnswer | undefined;
  readonly outcome: Outcome | Suspended;
}

export interface WorldStart {
  readonly watching?: Watching;
  /** A world to continue: its saved session, time and resources, with a new policy. */
  readonly from?: {
    readonly saved: SessionExport;
    readonly clock: ManualClock;
    readonly resources: PolicyWorld['resources'];
  };
}

// A plausible date, so that a policy that shows one shows a real one.
const startMs = Date.UTC(2026, 0, 1);
// Far more than a policy needs, but less than a test runner's timeout.
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
  const failingTools = tools.map((tool) => ({ ...tool, execute: () => toolError('It fails on purpose.') }));
  const { facts } = options;
  const shared = { session, policies: [watched.policy], policyTimeoutMs, ...(facts === undefined ? {} : { facts }) };

  return {
    session,
    clock,
    resources,
    problems: watched.problems,
    countsFailures: watched.policy.countsFailures === true,
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
  throw new HoldfastError('options.invalid', '`create` must return a policy created by `definePolicy`.');
}

export function describeCall({ tool, input = {} }: PolicyCall): string {
  const text = JSON.stringify(input);
  return `\`${tool} ${text.length > 200 ? `${text.slice(0, 200)}…` : text}\``;
}

function toCall({ tool, input = {} }: PolicyCall): { readonly name: string; readonly arguments: unknown } {
  return { name: tool, arguments: input };
}

/** A stub for each name in the cases or mentioned by the policy: accepts any arguments, and succeeds. */
function stubTools({ cases }: PolicyTesterOptions, policy: Policy): readonly Tool[] {
  const steps = cases.flatMap(({ after = [], call }) => [...after, call]);
  const names = steps.flatMap((step) => ('tool' in step ? [step.tool] : []));
  return [...new Set([...names, ...policy.mentions])].map((name) =>
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
    // From Standard JSON Schema, which our part of Standard Schema does not include.
    ...{ jsonSchema: { input: () => ({ type: 'object', additionalProperties: true }) } },
  },
};
