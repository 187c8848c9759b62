export { knownChecks } from './known-commands.ts';
export { type ReleaseOrderOptions, releaseOrder } from './release-order.ts';
