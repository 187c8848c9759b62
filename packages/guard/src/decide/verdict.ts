import { type FactsSource, HoldfastError, isHoldfastError, type Outcome } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { Suspended } from '@holdfast/executor';
import type { Released, Report } from '@holdfast/executor/internal';
import type { GuardDecision } from './decisions.ts';
import type { GuardReport, GuardVerdict, Placed } from './types.ts';

/** Facts of a call under the agent's own name of its tool, in the call's own folder. */
export function factsAt(source: FactsSource, { name, cwd, workspace }: Placed): FactsSource {
  const place = {
    ...(cwd === undefined ? {} : { folder: cwd }),
    ...(workspace === undefined ? {} : { workspace }),
  };
  return {
    view: { ...source.view, ...place },
    describe: (call, view) => source.describe({ ...call, tool: { ...call.tool, name } }, view),
  };
}

export function toCall({ name, folder, workspace }: GuardDecision): Placed {
  return { name, ...(folder === undefined ? {} : { cwd: folder }), ...(workspace === undefined ? {} : { workspace }) };
}

export function toNewVerdict(decided: Outcome | Suspended | Released): GuardVerdict {
  if (decided.kind === 'released') return { type: 'allow' };
  if (decided.kind !== 'suspended')
    return { type: 'deny', reason: decided.message, code: decided.code ?? 'policy.denied' };
  const [pending] = decided.pending;
  if (pending === undefined) throw new HoldfastError('guard.failed', 'A suspended call has no question.');
  const reason = [...new Set(pending.asks.map((asked) => asked.reason))].join(' ');
  return { type: 'ask', reason, pending };
}

export function toKnownVerdict({ verdict, reason = '', code = 'policy.denied' }: GuardDecision): GuardVerdict {
  return verdict === 'allow' ? { type: 'allow' } : { type: 'deny', reason, code };
}

/** The report of a released call whose agent says nothing. */
export const unreported: Report = {
  type: 'unknown',
  code: 'guard.unreported',
  message: 'The agent reported no result.',
};

export function toReport({ ok, value = null, message }: GuardReport, changed: boolean): Report {
  const said = message === undefined ? {} : { message };
  if (ok === 'not-run') return { type: 'not-run', ...said };
  if (changed) {
    const why = 'Another input ran than the one that was decided: something rewrote the call.';
    return { type: 'failed', code: 'guard.input_changed', message: why };
  }
  if (ok === 'unknown') return { type: 'unknown', ...said };
  return ok ? { type: 'ok', value, ...said } : { type: 'failed', message: message ?? 'The tool failed.', value };
}

/** An error while deciding is a denial. */
export function denial(thrown: unknown): GuardVerdict {
  const code = isHoldfastError(thrown) ? thrown.code : 'guard.failed';
  return { type: 'deny', code, reason: `The call could not be decided: ${describeThrown(thrown)}` };
}
