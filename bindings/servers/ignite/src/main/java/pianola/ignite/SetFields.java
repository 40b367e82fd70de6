package pianola.ignite;

import javax.cache.processor.EntryProcessor;
import javax.cache.processor.MutableEntry;

import org.apache.ignite.binary.BinaryObject;
import org.apache.ignite.binary.BinaryObjectBuilder;

/**
 * Changes some fields of a stored record where it lies: arguments are name, value, name, value, ...
 * Answers false when there is no such record. Call it with the keep-binary flag.
 */
public final class SetFields implements EntryProcessor<Object, BinaryObject, Boolean> {
    @Override public Boolean process(MutableEntry<Object, BinaryObject> entry, Object... args) {
        BinaryObject old = entry.getValue();
        if (old == null)
            return false;
        BinaryObjectBuilder b = old.toBuilder();
        for (int i = 0; i + 1 < args.length; i += 2)
            b.setField((String)args[i], args[i + 1]);
        entry.setValue(b.build());
        return true;
    }
}
