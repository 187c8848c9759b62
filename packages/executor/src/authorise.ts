import {
  type BoundPolicy,
  type Clock,
  type Decision,
  deny,
  describeThrown,
  type PolicyDecision,
  type PreparedCall,
  type SessionReader,
} from '@holdfast/core';
import { isGranted } from './grants.ts';
import { type PolicySurroundings, policyContext } from './policy-state.ts';

/** What the policies in force and the dangerous gate say, all of it. */
export interface Verdict {
  /** Deny beats ask beats allow. */
  readonly type: Decision['type'];
  /** Of every policy that was asked, in order. */
  readonly decisions: readonly PolicyDecision[];
}

export interface AuthoriseOptions {
  readonly policies: readonly BoundPolicy[];
  readonly surroundings: PolicySurroundings;
  /** Tool names that the host lets pass without asking. */
  readonly grants: ReadonlySet<string>;
  readonly session: SessionReader;
  readonly clock: Clock;
  readonly policyTimeoutMs: number;
  /** Keys of policies whose ask a person has answered with yes. */
  readonly approved: ReadonlySet<string>;
}

/** The key under which the runtime asks for dangerous tools. */
const dangerousGate = 'holdfast/dangerous';

/** Asks every policy in force and the dangerous gate. Whatever a policy does other than allow or ask is a denial. */
export async function authorise(call: PreparedCall, options: AuthoriseOptions): Promise<Verdict> {
  const decisions: PolicyDecision[] = [];
  for (const bound of options.policies) {
    let decision = askPolicy(bound, call, options);
    if (decision instanceof Promise) decision = await decision;
    decisions.push(waive(toEntry(bound.key, decision), call, options));
  }
  if (call.tool.dangerous) {
    decisions.push(
      waive(
        { policy: dangerousGate, type: 'ask', reason: `\`${call.tool.name}\` is marked as dangerous.` },
        call,
        options,
      ),
    );
  }
  return { type: strictest(decisions), decisions };
}

// The answer's own `then` and `type` are read once; an answer that changes under us cannot become an allow later.
function askPolicy(bound: BoundPolicy, call: PreparedCall, options: AuthoriseOptions): Decision | Promise<Decision> {
  try {
    const answer: unknown = bound.policy.check(call, policyContext(bound, options.session, options.surroundings));
    return isThenable(answer) ? waitForAnswer(answer, options) : readDecision(answer);
  } catch (thrown) {
    return deny(`The policy failed: ${describeThrown(thrown)}`);
  }
}

async function waitForAnswer(
  answer: PromiseLike<unknown>,
  { clock, policyTimeoutMs }: AuthoriseOptions,
): Promise<Decision> {
  let stop: () => void = () => undefined;
  const timeout = new Promise<Decision>((resolve) => {
    stop = clock.after(policyTimeoutMs, () => resolve(deny(`The policy did not answer within ${policyTimeoutMs} ms.`)));
  });
  const answered = Promise.resolve(answer).then(readDecision, (thrown: unknown) =>
    deny(`The policy failed: ${describeThrown(thrown)}`),
  );
  const decision = await Promise.race([answered, timeout]);
  stop();
  return decision;
}

function readDecision(answer: unknown): Decision {
  try {
    if (typeof answer === 'object' && answer !== null && 'type' in answer) {
      const { type } = answer;
      if (type === 'allow') return { type };
      if (type === 'ask' || type === 'deny') {
        const reason: unknown = 'reason' in answer ? answer.reason : undefined;
        return { type, reason: typeof reason === 'string' && reason !== '' ? reason : 'No reason was given.' };
      }
    }
    return deny('The policy gave no decision (`allow`, `ask` or `deny`).');
  } catch (thrown) {
    return deny(`The policy failed: ${describeThrown(thrown)}`);
  }
}

function toEntry(policy: string, decision: Decision): PolicyDecision {
  return decision.type === 'allow'
    ? { policy, type: 'allow' }
    : { policy, type: decision.type, reason: decision.reason };
}

/** Turns an ask into an allow when a person has answered it or the tool is granted. Denials stay what they are. */
function waive(
  entry: PolicyDecision,
  { tool }: PreparedCall,
  { approved, grants, session }: AuthoriseOptions,
): PolicyDecision {
  if (entry.type !== 'ask') return entry;
  if (approved.has(entry.policy)) return { policy: entry.policy, type: 'allow', reason: 'Approved.' };
  if (grants.has(tool.name)) return { policy: entry.policy, type: 'allow', reason: 'Granted by the host.' };
  if (isGranted(session, tool.name)) return { policy: entry.policy, type: 'allow', reason: 'Granted for the session.' };
  return entry;
}

function strictest(decisions: readonly PolicyDecision[]): Decision['type'] {
  let type: Decision['type'] = 'allow';
  for (const decision of decisions) {
    if (decision.type === 'deny') return 'deny';
    if (decision.type === 'ask') type = 'ask';
  }
  return type;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
