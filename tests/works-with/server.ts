import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** A port of the loopback interface that is free now. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Starts a server in `folder`, asks it for each of `paths`, and ends it. Returns the answers.
 *
 * @throws Error with what the server has printed, when it ends or does not listen within a minute.
 */
export async function askServer(
  folder: string,
  {
    command,
    port,
    paths,
  }: { readonly command: readonly string[]; readonly port: number; readonly paths: readonly string[] },
): Promise<readonly string[]> {
  const [program = '', ...parameters] = command;
  const child = spawn(program, parameters, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const closed = once(child, 'close');
  try {
    for (let tries = 0; !(await isListening(port)); tries += 1) {
      if (child.exitCode !== null || tries === 600) throw new Error(`no server listens on port ${port}: ${output}`);
      await setTimeout(100);
    }
    const answers: string[] = [];
    for (const path of paths) answers.push(await (await fetch(`http://127.0.0.1:${port}/${path}`)).text());
    return answers;
  } finally {
    child.kill();
    await closed;
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
