import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

/**
 * Stands before a PostgreSQL server, and now and then cuts a connection: before a statement arrives, or after it ran and before its answer. Held, it
 * forwards nothing until it is released.
 */
export class CuttingProxy implements AsyncDisposable {
  /** Connections that were cut so far. */
  cuts = 0;
  readonly #server: Server;
  readonly #folder: string;
  readonly #open = new Set<Socket>();
  #held = false;

  constructor(
    behind: { readonly host: string },
    { folder, random, chance }: { readonly folder: string; readonly random: () => number; readonly chance: number },
  ) {
    this.#folder = folder;
    const cut = (...sockets: readonly Socket[]): boolean => {
      if (random() >= chance) return false;
      this.cuts += 1;
      for (const socket of sockets) socket.destroy();
      return true;
    };
    this.#server = createServer((client) => {
      const database = createConnection(join(behind.host, socketName));
      for (const socket of [client, database]) {
        this.#open.add(socket);
        // Also after a cut, which is meant to look like a failure.
        socket
          .on('error', () => undefined)
          .on('close', () => {
            this.#open.delete(socket);
            client.destroy();
            database.destroy();
          });
      }
      client.on('data', (chunk) => void (cut(client, database) || database.write(chunk)));
      database.on('data', (chunk) => void (cut(client, database) || client.write(chunk)));
      if (this.#held) for (const socket of [client, database]) socket.pause();
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(join(this.#folder, socketName));
    await once(this.#server, 'listening');
  }

  hold(): void {
    this.#held = true;
    for (const socket of this.#open) socket.pause();
  }

  release(): void {
    this.#held = false;
    for (const socket of this.#open) socket.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

// As PostgreSQL names it for its usual port.
const socketName = '.s.PGSQL.5432';
