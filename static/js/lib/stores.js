/*
 * Where records outlive a reload: IndexedDB (with a journal), else localStorage, else memory.
 * A record is a plain object with a string `uuid`. All stores have the same three methods.
 */

export class MemoryStore {
  isDurable = false;
  #records = new Map();

  async all() {
    return [...this.#records.values()].map((record) => structuredClone(record));
  }

  async put(record) {
    this.#records.set(record.uuid, structuredClone(record));
  }

  async remove(uuids) {
    for (const uuid of uuids) this.#records.delete(uuid);
  }
}

export class LocalStore {
  isDurable = true;

  /** `prefix` keeps one person's records apart from another's; `storage` is a localStorage. */
  constructor(prefix, storage) {
    this.prefix = `${prefix}:`;
    this.storage = storage;
  }

  async all() {
    const found = [];
    for (let i = 0; i < this.storage.length; i += 1) {
      const key = this.storage.key(i);
      if (key.startsWith(this.prefix)) found.push(JSON.parse(this.storage.getItem(key)));
    }
    return found;
  }

  /** The record is kept when this returns; nobody has to wait for the promise. */
  async put(record) {
    this.storage.setItem(this.prefix + record.uuid, JSON.stringify(record));
  }

  async remove(uuids) {
    for (const uuid of uuids) this.storage.removeItem(this.prefix + uuid);
  }
}

export class IndexedStore {
  isDurable = true;

  constructor(database) {
    this.database = database;
  }

  async all() {
    const { store } = this.#begin("readonly");
    return asPromise(store.getAll());
  }

  async put(record) {
    const { store, done } = this.#begin("readwrite");
    store.put(record);
    await done;
  }

  async remove(uuids) {
    const { store, done } = this.#begin("readwrite");
    for (const uuid of uuids) store.delete(uuid);
    await done;
  }

  #begin(mode) {
    // strict: on the disk before we say that it is kept
    const transaction = this.database.transaction("records", mode, { durability: "strict" });
    const done = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
    done.catch(() => {}); // whoever awaits it hears of it
    return { store: transaction.objectStore("records"), done };
  }
}

/*
 * A store that keeps each record from the moment of `put`. IndexedDB writes on in the background
 * and forgets what is under way when the tab closes, on a busy disk up to a second after the
 * answer; localStorage keeps it at once. So each record is noted there until the store has it.
 */
export class JournaledStore {
  isDurable = true;

  /** @param journal a LocalStore of its own prefix. */
  constructor(store, journal) {
    Object.assign(this, { store, journal });
  }

  async all() {
    const noted = await this.journal.all(); // first: what moves on meanwhile is in the store then
    const found = new Map((await this.store.all()).map((record) => [record.uuid, record]));
    for (const record of noted) found.set(record.uuid, record);
    return [...found.values()];
  }

  async put(record) {
    const noted = this.journal.put(record);
    noted.catch(() => {}); // no room for the note: then only the store keeps it
    await this.store.put(record);
    await this.journal.remove([record.uuid]);
  }

  async remove(uuids) {
    await this.journal.remove(uuids);
    await this.store.remove(uuids);
  }
}

function asPromise(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Open the best store that this browser has, and let it work once before trusting it. */
export async function openStore(name, scope = globalThis) {
  for (const open of [openIndexed, openLocal]) {
    try {
      const store = await open(name, scope);
      await store.all();
      return store;
    } catch {
      /* private windows and full disks refuse; the next one may not */
    }
  }
  return new MemoryStore();
}

async function openIndexed(name, scope) {
  const request = scope.indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore("records", { keyPath: "uuid" });
  const store = new IndexedStore(await asPromise(request));
  try {
    return new JournaledStore(store, await openLocal(`${name}.journal`, scope));
  } catch {
    return store; // no localStorage here
  }
}

async function openLocal(name, scope) {
  const storage = scope.localStorage;
  storage.setItem(`${name}:probe`, "1");
  storage.removeItem(`${name}:probe`);
  return new LocalStore(name, storage);
}
