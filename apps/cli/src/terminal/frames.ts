import type { Clock } from '@holdfast/core';
import { createLogUpdate } from 'log-update';
import type { OutputStream } from './host.ts';

const frameMs = 100;

/** Lines of a terminal that are rewritten until they are closed. */
export class Frames {
  readonly #update: ReturnType<typeof createLogUpdate>;
  readonly #clock: Clock;
  readonly #render: () => readonly string[];
  #paused = false;
  #closed = false;
  #cancel: (() => void) | undefined;

  /** `render`: the lines as they are now; none take the frame away. */
  constructor(output: OutputStream, clock: Clock, render: () => readonly string[]) {
    this.#update = createLogUpdate(output);
    this.#clock = clock;
    this.#render = render;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether the next frame comes by itself. */
  get pending(): boolean {
    return this.#cancel !== undefined;
  }

  /** `above`: gives lines that stay, above the frame. */
  draw(above: () => readonly string[] = () => []): void {
    this.#stop();
    if (this.#paused || this.#closed) return;
    const kept = above();
    if (kept.length > 0) this.#update.persist(kept.join('\n'));
    const lines = this.#render();
    if (lines.length === 0) {
      this.#update.clear();
      return;
    }
    this.#update(lines.join('\n'));
    this.#cancel = this.#clock.after(frameMs, () => this.draw(above));
  }

  /** Runs `question` with the screen to itself. */
  async pauseFor<Answer>(question: () => Promise<Answer>, redraw: () => void): Promise<Answer> {
    this.#clear();
    this.#paused = true;
    try {
      return await question();
    } finally {
      this.#paused = false;
      redraw();
    }
  }

  /** `last`: draws once more, also while a question is open. */
  close(last: () => void = () => undefined): void {
    if (this.#closed) return;
    this.#paused = false;
    last();
    this.#closed = true;
    this.#clear();
  }

  #clear(): void {
    this.#stop();
    this.#update.clear();
    this.#update.done();
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
