import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { PackedPackage } from './packed-package.ts';

export interface LocalRegistry {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  stop(): Promise<void>;
}

/** One version of a package as npm asks for it. */
interface Release {
  readonly manifest: { readonly name: string; readonly version: string };
  readonly tarball: Uint8Array;
}

/**
 * Serves `packages` to npm, and accepts `npm publish`. Requests for other packages are redirected to the registry that npm is
 * set up with. On the loopback interface only; `port` 0 is one that is free.
 */
export async function startRegistry(
  packages: readonly PackedPackage[],
  { port = 0 }: { readonly port?: number } = {},
): Promise<LocalRegistry> {
  const releases = new Map<string, readonly Release[]>();
  const add = (release: Release): void => {
    const { name } = release.manifest;
    releases.set(name, [...(releases.get(name) ?? []), release]);
  };
  for (const { manifest, tarball } of packages) add({ manifest, tarball });
  const upstream = await findUpstream();

  const answerTo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = decodeURIComponent(request.url ?? '/').slice(1);
    // Ports come back, and so must not what npm remembers of the last run.
    const headers = { 'cache-control': 'no-store' };
    if (request.method === 'PUT') {
      const published = await readPublished(request);
      const isTaken = (releases.get(path) ?? []).some(
        ({ manifest }) => manifest.version === published.manifest.version,
      );
      if (!isTaken) add(published);
      response.writeHead(isTaken ? 409 : 201, headers).end('{}');
      return;
    }
    const answer = findAnswer(path, releases, url);
    if (answer !== undefined) response.writeHead(200, headers).end(answer);
    // Missing packages of ours must not come from another registry.
    else if (path.startsWith('@holdfast/')) response.writeHead(404, headers).end();
    else response.writeHead(302, { ...headers, location: new URL(request.url?.slice(1) ?? '', upstream).href }).end();
  };
  const server = createServer((request, response) => {
    // Reports an invalid package to npm; the registry continues.
    answerTo(request, response).catch((thrown: unknown) => response.writeHead(400).end(String(thrown)));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** With a slash at its end. */
async function findUpstream(): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry'], {
    shell: process.platform === 'win32',
  });
  return stdout.trim().replace(/\/*$/, '/');
}

/** The document of a package, or a tarball. */
function findAnswer(
  path: string,
  releases: ReadonlyMap<string, readonly Release[]>,
  url: string,
): string | Uint8Array | undefined {
  const [name = '', file] = path.split('/-/');
  const own = releases.get(name);
  if (own === undefined) return undefined;
  if (file !== undefined) return own.find(({ manifest }) => `${manifest.version}.tgz` === file)?.tarball;
  const versions = own.map(({ manifest, tarball }) => {
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const dist = { tarball: `${url}/${name}/-/${manifest.version}.tgz`, integrity };
    return [manifest.version, { ...manifest, dist }];
  });
  const latest = own.at(-1)?.manifest.version;
  return JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) });
}

/** The body of `npm publish`: one version with its tarball. */
async function readPublished(request: IncomingMessage): Promise<Release> {
  const { versions, _attachments: attachments } = (await json(request)) as {
    readonly versions: Readonly<Record<string, Release['manifest']>>;
    readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
  };
  const [manifest] = Object.values(versions);
  const [attachment] = Object.values(attachments);
  if (manifest === undefined || attachment === undefined) throw new Error('npm has published nothing');
  return { manifest, tarball: Buffer.from(attachment.data, 'base64') };
}
