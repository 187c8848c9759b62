import {
  allow,
  type Decision,
  definePolicy,
  type OutcomeKind,
  type Policy,
  type PolicyDecision,
  type ResourceTransaction,
  type RunStatus,
  type StagedResource,
  type ToolContext,
} from '@holdfast/core';
import type { CallOptions } from '@holdfast/executor';
import * as v from 'valibot';
import type { MadeCall, makeWriter, World, WorldOptions } from '../call-fixtures.ts';

export type RunnerName = 'directly' | 'byModel' | 'nested';
type Extra = NonNullable<Parameters<typeof makeWriter>[1]>;

/** One reason why a call of the tool `write` ends as it does. */
export interface Cause {
  readonly what: string;
  readonly kind: OutcomeKind;
  readonly code?: string;
  /** Default: every way in which a call comes about. */
  readonly by?: readonly RunnerName[];
  /** Default: of `write`, with no arguments. */
  readonly call?: Partial<MadeCall>;
  /** The tool's action after it has written; default: it answers `done`. */
  readonly does?: (context: ToolContext, world: World) => unknown;
  readonly tool?: Extra | 'declared';
  /** In force after one that allows. */
  readonly policies?: readonly Policy[];
  readonly world?: () => WorldOptions;
  readonly options?: (world: World) => Partial<CallOptions> & { readonly finish?: 'length' };
  /** Of a run; default `completed`. */
  readonly status?: RunStatus;
  /** Fields of the outcome beside kind and code. */
  readonly outcome?: object;
  /** Fields of the end event that are not as every one has them. */
  readonly end?: object;
  /** How far the call gets; default `execute`. */
  readonly reached?: 'parse' | 'authorise';
}

type Rest = Omit<Cause, 'what' | 'kind' | 'code'>;

export function succeeds(what: string, rest: Rest = {}): Cause {
  return { what, kind: 'ok', ...rest };
}

/** Makes causes of one kind. */
export function ends(kind: OutcomeKind): (what: string, code: string, rest?: Rest) => Cause {
  return (what, code, rest = {}) => ({ what, kind, code, ...rest });
}

/** A policy about the tool `write` alone, so that the one that it is nested in passes. */
export function guard(answer: () => unknown, onResult?: () => unknown): Policy {
  return definePolicy({
    name: 'guard',
    check: ({ tool }) => (tool.name === 'write' ? (answer() as Decision) : allow),
    ...(onResult === undefined
      ? {}
      : { onResult: ({ tool }) => (tool.name === 'write' ? (onResult() as undefined) : undefined) }),
  }) as Policy;
}

/** Of the policy that stands before every other. */
export const watched: PolicyDecision = { policy: 'host/watch', type: 'allow' };

export const inputSchema: v.GenericSchema<{ q: string }> = v.object({ q: v.string() });
export const external = { effects: 'external' } as const;
export const repeatable = { effects: 'external', repeat: 'safe' } as const;
/** True for what has no log or transaction of its own when it is nested. */
export const notNested: Rest = { by: ['directly', 'byModel'] };

/** A filesystem one of whose steps breaks. */
export function breaking({ filesystem }: World, step: 'prepare' | 'discard'): StagedResource {
  return {
    ...filesystem,
    begin(callId) {
      const transaction: ResourceTransaction = filesystem.begin(callId);
      const broken = async (): Promise<never> => {
        await transaction.discard();
        throw new Error(`${step} broke`);
      };
      return { ...transaction, [step]: broken };
    },
  };
}

/** A log that refuses the first record of this type. */
export function refusing(type: string): () => WorldOptions {
  return () => {
    let refused = false;
    return {
      refuses(entry) {
        if (refused || entry.type !== type) return false;
        refused = true;
        return true;
      },
    };
  };
}

/** The caller aborts when the tool is at work and will not heed it. */
export function aborting(tool: Extra): Rest {
  let controller = new AbortController();
  return {
    tool,
    does() {
      setImmediate(() => controller.abort());
      return new Promise(() => undefined);
    },
    options() {
      controller = new AbortController();
      return { signal: controller.signal };
    },
    status: 'aborted',
    end: { abandoned: true },
  };
}
