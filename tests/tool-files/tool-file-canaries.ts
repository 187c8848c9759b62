import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

/** Tells whether code has run that must not: a file, a global, an environment variable and a listener on this machine. */
export interface Canaries {
  /** An expression that trips them all, in any module of Node.js. */
  readonly trip: string;
  /** The same in Python, which is always another process: trips the file and the listener. */
  readonly tripInPython: string;
  /** The same for a shell, on one line. */
  readonly tripInShell: string;
  /** Of the listener. */
  readonly port: number;
  /** Those that have been tripped since the last time, by name. */
  tripped(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const name = 'holdfastToolFileCanary';

/** `folder` holds the file, and must not be the one that is scanned. */
export async function createCanaries(folder: string): Promise<Canaries> {
  const file = join(folder, 'canary');
  const sockets = new Set<Socket>();
  // The ports of those who have connected, and which of them were ours.
  const seen: number[] = [];
  const own = new Set<number>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    if (socket.remotePort !== undefined) seen.push(socket.remotePort);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The listener has no port.');
  const { port } = address;

  // A listener takes connections in their order: when ours is there, so are all that were made before.
  async function countStrangers(): Promise<number> {
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(client, 'connect');
    const { localPort = 0 } = client;
    own.add(localPort);
    while (!seen.includes(localPort)) await once(server, 'connection');
    client.destroy();
    const strangers = seen.filter((one) => !own.has(one));
    seen.length = 0;
    own.clear();
    return strangers.length;
  }

  return {
    trip: `(globalThis.${name} = 1, process.env.${name} = '1', process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(file)}, ''), process.getBuiltinModule('node:net').connect(${port}, '127.0.0.1').on('error', () => {}), 'tripped')`,
    tripInPython: `(open(${JSON.stringify(file)}, 'w').close(), __import__('socket').create_connection(('127.0.0.1', ${port})).close())`,
    tripInShell: `: > '${file}'`,
    port,
    async tripped() {
      const strangers = await countStrangers();
      const tripped = [
        existsSync(file) ? 'file' : '',
        name in globalThis ? 'global' : '',
        process.env[name] === undefined ? '' : 'environment',
        strangers > 0 ? 'listener' : '',
      ];
      rmSync(file, { force: true });
      Reflect.deleteProperty(globalThis, name);
      delete process.env[name];
      return tripped.filter((one) => one !== '');
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
