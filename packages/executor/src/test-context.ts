// The module that the configuration leaves alone.
import { CallContext as PlainContext } from './call/context.ts?plain';
import type { RunningCall } from './call/running-call.ts';

/** What a call opens when its tool first asks for it is open from the start. */
export class CallContext extends PlainContext {
  constructor(call: RunningCall) {
    super(call);
    void call.transaction;
    void call.signal;
    void call.lifetime;
    void call.nested;
    void call.key;
    // Also those that the call declares, whose scope it then has to close.
    void (call.openResources() as { readonly declared?: unknown }).declared;
  }
}
