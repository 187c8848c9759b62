import { definePack, type Pack } from '@holdfast/core';
import manifest from '../package.json' with { type: 'json' };
import { guardedFiles } from './guarded-files.ts';
import { keptFiles, outsideFiles, scopedFiles, secretFiles } from './judges.ts';
import { configSchema, type FilesystemGuardOptions } from './options.ts';

/**
 * Protects secret files from being read, written or deleted, asks before files that run by themselves are changed, and keeps calls in the
 * workspace. Judges a call by its facts (`call.facts`), not by its tool's name; without facts every call is denied.
 *
 * A success that touched a secret, read-only or out-of-scope file of the resource `filesystem` without declaring it in its facts fails
 * before its commit, with `policy.refused`. Keeps no state.
 */
export const filesystemGuard: Pack<FilesystemGuardOptions> = definePack<FilesystemGuardOptions, FilesystemGuardOptions>(
  {
    name: 'filesystem-guard',
    version: manifest.version,
    description: 'Protects secret files and files that run by themselves, and keeps calls in the workspace.',
    configSchema,
    presets: {
      recommended: {
        description:
          'Denies secrets; asks about files outside of the workspace, files that run by themselves, and unclear calls.',
        config: { selfRunning: 'ask', outside: 'ask', unclear: 'ask', project: 'allow' },
      },
      strict: {
        description:
          'Never asks: denies files outside of the workspace, files that run by themselves, unclear calls, and workspace code.',
        config: { selfRunning: 'deny', outside: 'deny', unclear: 'deny', project: 'deny' },
      },
    },
    policies(options) {
      const { read, write } = options;
      const judges = [secretFiles(options), keptFiles(options), outsideFiles(options)];
      return [...judges, ...(read === undefined && write === undefined ? [] : [scopedFiles({ read, write })])].map(
        guardedFiles,
      );
    },
  },
);
