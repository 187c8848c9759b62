import type { RunnableConfig } from '@langchain/core/runnables';
import { BaseCheckpointSaver, type CheckpointListOptions, type CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { beginSession, type LogPlace, reopenSession } from './checkpoint-logs.ts';
import { HoldfastCheckpointSaver } from './checkpoint-saver.ts';

/** Reopens its log before every request, so that nothing comes from memory. */
export class ReopeningSaver extends BaseCheckpointSaver {
  readonly #place: LogPlace;
  #saver: HoldfastCheckpointSaver;

  constructor(place: LogPlace) {
    super();
    this.#place = place;
    this.#saver = new HoldfastCheckpointSaver(beginSession(place));
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

  close(): Promise<void> {
    return this.#saver.session.close();
  }

  async #reopened(): Promise<HoldfastCheckpointSaver> {
    await this.close();
    this.#saver = new HoldfastCheckpointSaver(reopenSession(this.#place));
    return this.#saver;
  }
}
