import type { ReleasingGuard } from '../decide/types.ts';
import { decide, type GovernedCall, type GovernOptions, releaseGoverned, toGoverned, toSuccess } from './run.ts';

interface ToolUse {
  readonly name: string;
  readonly toolUseId: string;
  readonly input: unknown;
}

interface BeforeToolCall {
  readonly toolUse: ToolUse;
  interrupt(question: { readonly name: string; readonly reason: string }): unknown;
}

interface AfterToolCall {
  readonly toolUse: ToolUse;
  readonly result: { readonly status: string; readonly content: readonly unknown[] };
  readonly error?: Error;
  readonly agent: { readonly cancelSignal?: AbortSignal };
}

type Proceed = { type: 'proceed' };
type Deny = { type: 'deny'; reason: string };

/** An `InterventionHandler` of Strands, structurally: pass it to `new Agent({ interventions: [...] })`. */
export interface HoldfastIntervention {
  readonly name: string;
  readonly onError: 'deny';
  beforeInvocation(): Proceed;
  beforeToolCall(event: BeforeToolCall): Promise<Proceed | Deny>;
  afterToolCall(event: AfterToolCall): Promise<Proceed>;
  beforeModelCall(): Proceed;
  afterModelCall(): Proceed;
}

const proceed = (): Proceed => ({ type: 'proceed' });

/**
 * Governs every tool of a Strands agent. An ask is an interrupt: the agent stops with `interrupt`, and is invoked again with a response,
 * `true` for a yes. Put it last in the list: what it lets through, runs.
 */
export function holdfastIntervention(guard: ReleasingGuard, options: GovernOptions = {}): HoldfastIntervention {
  const running = new Map<string, GovernedCall>();
  const read = ({ toolUseId: id, name, input }: ToolUse): GovernedCall =>
    toGoverned('strands', { id, name, input }, options);
  return {
    name: 'holdfast',
    onError: 'deny',
    beforeInvocation: proceed,
    async beforeToolCall(event) {
      const call = read(event.toolUse);
      const verdict = await decide(guard, call);
      if (verdict.type === 'deny') return { type: 'deny', reason: verdict.reason };
      // Throws until there is a response.
      if (verdict.type === 'ask' && event.interrupt({ name: `holdfast:${call.id}`, reason: verdict.reason }) !== true) {
        await guard.refuse(call);
        return { type: 'deny', reason: 'A person said no.' };
      }
      const refused = await releaseGoverned(guard, call);
      if (refused !== undefined) return { type: 'deny', reason: refused };
      running.set(call.id, call);
      return proceed();
    },
    async afterToolCall({ toolUse, result, error, agent }) {
      const call = running.get(toolUse.toolUseId);
      if (call === undefined) return proceed();
      running.delete(call.id);
      if (result.status !== 'error') await guard.after(call, toSuccess(result.content));
      else
        await guard.after(call, {
          ok: agent.cancelSignal?.aborted === true ? 'unknown' : false,
          message: describe(error, result.content),
        });
      return proceed();
    },
    beforeModelCall: proceed,
    afterModelCall: proceed,
  };
}

function describe(error: Error | undefined, content: readonly unknown[]): string {
  return error?.message ?? JSON.stringify(content);
}
