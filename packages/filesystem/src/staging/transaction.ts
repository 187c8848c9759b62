import {
  type Filesystem,
  type FilesystemReader,
  HoldfastError,
  type ResourceTransaction,
  type StagedResource,
} from '@holdfast/core';
import type { Protection } from '../paths/protection.ts';
import type { Backend, Landing } from './backend.ts';
import { createCommittedFiles } from './committed-files.ts';
import { checkConflicts } from './conflicts.ts';
import type { Ground } from './ground.ts';
import { Overlay, type WriteRules } from './overlay.ts';
import { createReader } from './reader.ts';

/** Creates the staged resource of a backend. */
export function createStagedFilesystem(
  backend: Backend,
  protection: Protection,
  maxFileBytes: number,
): StagedResource<Filesystem, FilesystemReader> {
  const files = createCommittedFiles(backend, protection);
  return Object.freeze({
    type: 'staged-resource',
    readOnly: Object.freeze(createReader(files.content, protection)),
    begin: () => createTransaction(files, { protection, maxFileBytes }),
    ...createRecovery(backend, files, protection),
  });
}

type Recovery = Pick<StagedResource<Filesystem, FilesystemReader>, 'unsettled' | 'recover'>;

function createRecovery({ settle }: Backend, files: Ground, protection: Protection): Recovery {
  if (settle === undefined) return {};
  const loadCheck = async () => {
    const targets = await files.protectedTargets();
    return (key: string) => protection.checkWrite(key, targets);
  };
  return {
    unsettled: () => settle({ loadCheck }),
    async recover(mark, committed) {
      await settle({ loadCheck, decided: { mark, committed } });
    },
  };
}

/** The transaction of one call, over the files or over the transaction of the outer call. */
function createTransaction(ground: Ground, rules: WriteRules): ResourceTransaction<Filesystem, FilesystemReader> {
  const overlay = new Overlay(ground, rules);
  const { view, readOnly, staging } = overlay;
  let stage: 'open' | 'prepared' | 'ended' = 'open';
  let landing: Landing | undefined;
  let running: Promise<void> = Promise.resolve();
  const held: (() => void)[] = [
    ground.enter(() => {
      overlay.close();
      end();
    }),
  ];

  function end(): void {
    stage = 'ended';
    for (const release of held.splice(0)) release();
  }

  async function prepare(mark: string | undefined): Promise<void> {
    // Without writes, there is nothing to conflict.
    if (staging.nodes.size > 0) {
      held.push(ground.reservations.reserve(staging));
      // Held from the check of the files to their replacement, to exclude other processes.
      held.push(await ground.lock());
      await checkConflicts(ground.content, staging);
    }
    landing = await ground.prepare(staging, mark);
  }

  return {
    view,
    readOnly,
    touched: () => staging.touched(),
    seal: () => overlay.close(),
    begin: () => createTransaction(overlay, rules),
    prepare(mark) {
      if (stage !== 'open') throw closedError();
      stage = 'prepared';
      overlay.close();
      running = prepare(mark).catch((error: unknown) => {
        end();
        throw error;
      });
      return running;
    },
    commit() {
      if (stage === 'ended') throw closedError();
      if (landing === undefined) {
        throw new HoldfastError('resource.invalid', 'A filesystem transaction must be prepared before its commit.', {
          data: { reason: 'not_prepared' },
        });
      }
      stage = 'ended';
      running = landing.commit().finally(end);
      return running;
    },
    async discard() {
      overlay.close();
      // Running writes end first; their callers get any failures.
      await Promise.allSettled([running]);
      if (stage === 'ended') return;
      stage = 'ended';
      try {
        await landing?.discard();
      } finally {
        end();
      }
    },
  };
}

function closedError(): HoldfastError {
  return new HoldfastError('context.closed', 'This filesystem transaction has ended.');
}
