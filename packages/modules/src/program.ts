import type { JsonObject } from '@holdfast/core';
import type { Signature } from './signature.ts';

export type PredictorType = 'predict' | 'chain_of_thought' | 'react';

/** One worked example. Fields may be missing; then it is shown as incomplete. */
export interface Demo {
  readonly inputs: JsonObject;
  readonly outputs: JsonObject;
}

/** What has been written for a signature, by a person or a tuner. */
export interface Tuning {
  /** Default: the signature's. */
  readonly instruction?: string;
  readonly demos?: readonly Demo[];
  /** By field, in place of what the signature's schemas say. */
  readonly descriptions?: Readonly<Record<string, string>>;
}

/** A signature with what has been written for it: all that a prompt is made of, beside the input. */
export interface Program<Input = unknown, Output = unknown> {
  readonly signature: Signature<Input, Output>;
  readonly predictorType: PredictorType;
  readonly instruction: string;
  readonly demos: readonly Demo[];
  readonly descriptions: ReadonlyMap<string, string>;
}
