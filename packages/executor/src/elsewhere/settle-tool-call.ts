import { HoldfastError, type Json, type Outcome, toolError, toolOk } from '@holdfast/core';
import { copyJson, isPlainObject } from '@holdfast/core/internal';
import { claimCall } from '../approval/claims.ts';
import { dropCalls } from '../approval/masked-calls.ts';
import { failure } from '../call/ending.ts';
import { finish } from '../call/run-call.ts';
import type { CallOptions } from '../call/scope.ts';
import { recordEnd } from '../call/settle.ts';
import type { Ending } from '../call/types.ts';
import { openScope } from '../direct/features.ts';
import { readReservations } from '../nested/reservations.ts';
import { conclude, isBegun, prepareAgain, reopen } from '../recovery/recover-call.ts';
import { findCall, identify } from '../recovery/resume-tool-call.ts';

/** The result of a released call, as reported by the place where it ran. */
export type Report =
  | { readonly type: 'ok'; readonly value?: Json; readonly message?: string }
  | { readonly type: 'failed'; readonly message: string; readonly code?: string; readonly value?: Json }
  /** The call did not run. */
  | { readonly type: 'not-run'; readonly message?: string }
  /** The result is not known. `code`: why. */
  | { readonly type: 'unknown'; readonly message?: string; readonly code?: string };

/**
 * Ends a call that `releaseToolCall` released: a success is validated, passed to the policies and committed; anything else is recorded.
 * Pass the same policies and tools as for the release.
 *
 * @throws HoldfastError `work.not_open`, `options.invalid` for a malformed report, and as `resumeToolCall`.
 */
export async function settleToolCall(callId: string, report: Report, options: CallOptions): Promise<Outcome> {
  const read = readReport(report);
  const scope = openScope(options);
  try {
    const release = claimCall(scope.session, callId);
    try {
      const open = findCall(scope, callId);
      if (!isBegun(open)) {
        throw new HoldfastError('work.not_open', `The call \`${callId.slice(0, 100)}\` was not released.`, {
          data: { reason: 'call', callId },
        });
      }
      const call = identify(open, scope);
      const { record, running } = reopen(call, { open, prepared: prepareAgain(call, scope), scope });
      if (read.type !== 'not-run') record.reservations = readReservations(open);
      const ended =
        running !== undefined && (read.type === 'ok' || read.type === 'failed')
          ? await conclude(toAnswer(read), running)
          : recordEnd(toEnding(call.name, read), record);
      dropCalls(scope.session, { callId });
      return await finish(ended, scope);
    } finally {
      release();
    }
  } finally {
    scope.lifetime.dispose();
  }
}

function toAnswer(report: Extract<Report, { type: 'ok' | 'failed' }>): Parameters<typeof conclude>[0] {
  if (report.type === 'ok') return { type: 'returned', value: toolOk(report.value ?? null, report.message ?? '') };
  return { type: 'returned', value: toolError(report.message, report) };
}

function toEnding(name: string, report: Report): Ending {
  const said = report.message === undefined ? '' : ` ${report.message}`;
  switch (report.type) {
    case 'not-run':
      return failure('cancelled', { code: 'call.not_done', message: `\`${name}\` did not run.${said}` });
    case 'unknown': {
      const message = `It is not known whether \`${name}\` took effect. Find out before calling it again.${said}`;
      return failure('in-doubt', { code: report.code ?? 'call.in_doubt', message });
    }
    default: {
      const message = `\`${name}\` has ended, but its result cannot be accepted: the tool no longer exists, or rejects its arguments.${said}`;
      return failure('in-doubt', { code: 'call.interrupted', message });
    }
  }
}

function readReport(report: unknown): Report {
  if (isPlainObject(report)) {
    const { type, value = null, message } = report;
    const copied = copyJson(value);
    const hasText = message === undefined || typeof message === 'string';
    if (type === 'ok' && hasText && copied.ok) return { ...(report as Report & { type: 'ok' }), value: copied.value };
    if (type === 'failed' && typeof message === 'string' && copied.ok) return report as Report & { type: 'failed' };
    if ((type === 'not-run' || type === 'unknown') && hasText) return report as Report & { type: 'not-run' };
  }
  throw new HoldfastError('options.invalid', 'The `type` of a report must be `ok`, `failed`, `not-run` or `unknown`.');
}
