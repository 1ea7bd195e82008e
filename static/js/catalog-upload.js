/* The import form: shows how far an upload is, and refuses a second press meanwhile. */
import { bindUpload } from "./lib/upload.js";

for (const form of document.querySelectorAll("[data-upload-form]")) bindUpload(form);
