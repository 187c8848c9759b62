import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PackedPackage } from './packed-package.ts';

export interface LocalRegistry {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves `packages` to npm: one document a package, which names the one tarball. Everything else is not there. */
export async function startRegistry(packages: readonly PackedPackage[]): Promise<LocalRegistry> {
  const answers = new Map<string, string | Uint8Array>();
  const server = createServer(({ url = '/' }, response) => {
    const answer = answers.get(decodeURIComponent(url));
    // Ports come back, and so must not what npm remembers of the last run.
    response.writeHead(answer === undefined ? 404 : 200, { 'cache-control': 'no-store' }).end(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const { manifest, tarball } of packages) {
    const { name, version } = manifest;
    const path = `/${name}/-/${version}.tgz`;
    const dist = {
      tarball: url + path,
      integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    };
    const versions = { [version]: { ...manifest, dist } };
    answers.set(`/${name}`, JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
    answers.set(path, tarball);
  }
  return {
    url,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
