import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError, type Vault } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { deriveKey } from './key.ts';

/**
 * Creates a vault for one session: a folder with a file (mode 0600) for each open call, created with the first and removed with the
 * last. Files are sealed by AES-256-GCM with a random nonce; the key is derived from `key`, which may be the redactor's.
 *
 * @throws HoldfastError `options.invalid` for a key of fewer than 16 bytes; from `put` `log.write_failed`.
 */
export function sealedFiles(folder: string, { key }: { readonly key: string | Uint8Array }): Vault {
  const sealing = deriveKey(key, 'seal');
  const pathOf = (name: string): string => join(folder, hash('sha256', name, 'hex'));
  const names = new Set(readNames(folder));
  return Object.freeze({
    put(name: string, bound: string, text: string): void {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, sealing, nonce).setAAD(Buffer.from(bound));
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        if (!isFolder(folder)) throw new Error('it is a link');
        writeFileSync(pathOf(name), `${JSON.stringify(name)}\n${sealed.toString('base64')}\n`, { mode: 0o600 });
      } catch (cause) {
        const message = `The arguments of a call could not be stored in \`${folder}\`: ${describeThrown(cause)}. The call was not made, because it could not be recorded.`;
        throw new HoldfastError('log.write_failed', message, { cause });
      }
      names.add(name);
    },
    get(name: string, bound: string): string | undefined {
      const sealed = Buffer.from(readSealed(pathOf(name)), 'base64');
      if (sealed.length < nonceBytes + tagBytes) return undefined;
      const decipher = createDecipheriv(algorithm, sealing, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
        .setAAD(Buffer.from(bound))
        .setAuthTag(sealed.subarray(-tagBytes));
      try {
        return decipher.update(sealed.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        // Another key or call, or changed: the caller continues without the content.
        return undefined;
      }
    },
    delete(name: string): void {
      if (!names.delete(name)) return;
      rmSync(pathOf(name), { force: true });
      if (names.size > 0) return;
      try {
        rmdirSync(folder);
      } catch {
        // The folder has foreign files.
      }
    },
    names: () => [...names],
  });
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

function readNames(folder: string): readonly string[] {
  let files: readonly string[];
  try {
    files = readdirSync(folder);
  } catch {
    // Created with the first file.
    return [];
  }
  // A foreign workspace may have placed a link here, with other files behind it.
  if (!isFolder(folder)) return [];
  return files
    .filter((file) => /^[0-9a-f]{64}$/.test(file))
    .flatMap((file) => {
      try {
        return [String(JSON.parse(readFileSync(join(folder, file), 'utf8').split('\n')[0] ?? ''))];
      } catch {
        // A partial write.
        rmSync(join(folder, file), { force: true });
        return [];
      }
    });
}

function isFolder(path: string): boolean {
  return lstatSync(path).isDirectory();
}

function readSealed(path: string): string {
  try {
    return readFileSync(path, 'utf8').split('\n')[1] ?? '';
  } catch {
    // Nothing was sealed.
    return '';
  }
}
