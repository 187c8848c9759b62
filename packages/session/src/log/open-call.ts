import type { ApprovalAnswer, EffectCheck, Json, PendingApproval, Repeat } from '@holdfast/core';
import type { Reservation } from './reservation.ts';

/** By what a session tells its calls apart: a direct one by its id alone. */
export interface CallPlace {
  readonly callId: string;
  readonly run?: number | undefined;
  readonly turn?: number | undefined;
}

/** A question about a call, with its answer once there is one. */
export interface OpenApproval {
  readonly pending: PendingApproval;
  readonly askedAtMs: number;
  readonly answer?: ApprovalAnswer;
  readonly answeredAtMs?: number;
  readonly answeredBy?: string;
  /** The grant that came with the answer has been made. */
  readonly granted?: boolean;
}

/** The start record of a call that touches the world. */
export interface OpenStart {
  readonly atMs: number;
  readonly input: Json;
  /** `never` also when a call nested in it that may not be repeated was begun. */
  readonly repeat: Repeat;
  /** The log was opened again since: the process that began the call has ended. */
  readonly interrupted: boolean;
  /** Of the call, and of those nested in it that may have taken effect. Absent where there are none. */
  readonly reserved?: readonly Reservation[];
}

/** A call that has not ended: it waits for a person, it is under way, or its process ended under it. */
export interface OpenCall {
  readonly callId: string;
  readonly name: string;
  /** Both absent for a direct call. */
  readonly run?: number;
  readonly turn?: number;
  /** Of a direct call; those of a run's call are in the model's message. */
  readonly rawArguments?: Json;
  /** In the order in which they were asked. */
  readonly approvals: readonly OpenApproval[];
  readonly start?: OpenStart;
  /** What a person has said about its effect. */
  readonly resolution?: EffectCheck;
}
