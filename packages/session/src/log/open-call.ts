import type { ApprovalAnswer, Json, PendingApproval, Repeat } from '@holdfast/core';
import type { EffectCheck } from '@holdfast/core/types';
import type { Reservation } from './reservation.ts';

/** Identifies a call within a session; a direct call has only its id. */
export interface CallPlace {
  readonly callId: string;
  readonly run?: number | undefined;
  readonly turn?: number | undefined;
}

/** An approval question with its answer, if any. */
export interface OpenApproval {
  readonly pending: PendingApproval;
  readonly askedAtMs: number;
  readonly answer?: ApprovalAnswer;
  readonly answeredAtMs?: number;
  readonly answeredBy?: string;
  /** True once the grant in the answer was made. */
  readonly granted?: boolean;
}

/** The start record of a call with effects. */
export interface OpenStart {
  readonly atMs: number;
  readonly input: Json;
  /** Also `never` if a nested call that started may not be repeated. */
  readonly repeat: Repeat;
  /** True if the log was reopened since: the process of the call has ended. */
  readonly interrupted: boolean;
  /** Of the call, and of nested calls that may have taken effect. Absent if there are none. */
  readonly reserved?: readonly Reservation[];
}

/** A call that has not ended: waiting for a person, running, or interrupted. */
export interface OpenCall {
  readonly callId: string;
  readonly name: string;
  /** Both absent for a direct call. */
  readonly run?: number;
  readonly turn?: number;
  /** Of a direct call; arguments of a run's call are in the model's message. */
  readonly rawArguments?: Json;
  /** In the order asked. */
  readonly approvals: readonly OpenApproval[];
  readonly start?: OpenStart;
  /** A person's statement about its effect. */
  readonly resolution?: EffectCheck;
}
