import type { Session } from '@holdfast/session';
import type { RunnableConfig } from '@langchain/core/runnables';
import { BaseCheckpointSaver, type CheckpointListOptions, type CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { beginSession, type LogPlace, reopenSession } from './checkpoint-logs.ts';
import { HoldfastCheckpointSaver } from './checkpoint-saver.ts';

/** Reopens its log before every request, so that nothing comes from memory. */
export class ReopeningSaver extends BaseCheckpointSaver {
  readonly #open: () => Session | Promise<Session>;
  #saver: HoldfastCheckpointSaver | undefined;

  /** `place`: a log, or what opens its session each time. */
  constructor(place: LogPlace | (() => Promise<Session>)) {
    super();
    this.#open = typeof place === 'function' ? place : () => reopenSession(place);
    this.#saver = typeof place === 'function' ? undefined : new HoldfastCheckpointSaver(beginSession(place));
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return (await this.#reopened()).getTuple(config);
  }

  override async *list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    yield* (await this.#reopened()).list(config, options);
  }

  override async put(...parameters: Parameters<HoldfastCheckpointSaver['put']>): Promise<RunnableConfig> {
    return (await this.#reopened()).put(...parameters);
  }

  override async putWrites(...parameters: Parameters<HoldfastCheckpointSaver['putWrites']>): Promise<void> {
    return (await this.#reopened()).putWrites(...parameters);
  }

  override async deleteThread(threadId: string): Promise<void> {
    return (await this.#reopened()).deleteThread(threadId);
  }

  async close(): Promise<void> {
    await this.#saver?.session.close();
  }

  async #reopened(): Promise<HoldfastCheckpointSaver> {
    await this.close();
    const saver = new HoldfastCheckpointSaver(await this.#open());
    this.#saver = saver;
    return saver;
  }
}
