import type { Json, JsonObject, Tool } from '@holdfast/core';
import type { ReleasingGuard } from '@holdfast/guard';
import type { GovernOptions } from '@holdfast/guard/ai-sdk';
import type { OwnToolOptions } from '@holdfast/guard/strands';

export interface ModelCall {
  readonly id: string;
  readonly name: string;
  /** As text: the model's own words, which need not be JSON. */
  readonly input: JsonObject | string;
}

/** An answer of the scripted model: calls, or a last text. */
export type Turn = readonly ModelCall[] | string;

export type Body = (input: JsonObject, signal: AbortSignal | undefined) => Json | Promise<Json>;

export interface Given {
  readonly guard: ReleasingGuard;
  readonly tools: Readonly<Record<string, Body>>;
  /** The model's answer number `index`. */
  readonly model: (index: number) => Turn | Promise<Turn>;
  readonly options?: GovernOptions;
  /** Tools of Holdfast in place of governed ones. */
  readonly own?: { readonly tools: readonly Tool[]; readonly options: OwnToolOptions };
  readonly signal?: AbortSignal;
  readonly streams?: boolean;
  /** The framework's own deadline of each tool. */
  readonly deadlineMs?: number;
}

export type Ran =
  | {
      readonly type: 'done';
      /** The results that the model read, by call id. */
      readonly read: Readonly<Record<string, string>>;
    }
  | {
      readonly type: 'asked';
      readonly ids: readonly string[];
      /** Gives the framework's own answers. `again`: in another process, which has only what the framework can write down. */
      answer(answers: Readonly<Record<string, boolean>>, again?: Again): Promise<Ran>;
    };

export type Again = Partial<Pick<Given, 'guard' | 'own'>>;

/** A program in a framework, whose tools are governed by its adapter. */
export interface Driver {
  readonly name: string;
  /** The text that the model reads when a body throws, if not the error's message. */
  readonly errorText?: string;
  /** The framework's error for an answer to a run that has ended; without it, the first result is read again. */
  readonly secondAnswer?: string;
  /** Situations of the kit for executors that do not reach a tool: the framework ends or interrupts the run. */
  readonly decides?: readonly string[];
  /** A stopped run waits until its bodies end. */
  readonly waitsForBodies?: true;
  /** Its tools can have deadlines. */
  readonly hasDeadlines?: true;
  run(given: Given): Promise<Ran>;
  /** The model's call that hands the work to the sub-agent `helper`. */
  readonly handOff: Omit<ModelCall, 'id'>;
  /** Runs an agent and, when its model hands off, `helper`, which has the same tools. Each is governed with options of its own. */
  runTeam(team: Team): Promise<void>;
}

export interface Team extends Pick<Given, 'guard' | 'tools' | 'model'> {
  readonly helper: Pick<Given, 'model' | 'options'>;
}
