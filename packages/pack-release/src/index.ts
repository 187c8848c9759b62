export { type ReleaseOrderOptions, releaseOrder } from './release-order.ts';
