// Excluded from the configuration's alias.
import { CallContext as PlainContext } from './call/context.ts?plain';
import type { RunningCall } from './call/running-call.ts';

/** Opens everything at the start that a call otherwise opens on first use. */
export class CallContext extends PlainContext {
  constructor(call: RunningCall) {
    super(call);
    void call.transaction;
    void call.signal;
    void call.lifetime;
    void call.nested;
    void call.key;
    // Also opens declared resources, so the call has to close their scope.
    void (call.openResources() as { readonly declared?: unknown }).declared;
  }
}
