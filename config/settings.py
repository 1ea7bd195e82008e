"""Django settings, read from the environment; docs/deployment.md lists every variable."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.templatetags.static import static

from config import embedded, env, oidc, storage
from config.operation import mail, reporting
from config.running.when_prepared import PREPARED

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.folder("LOOKALIKE_DATA", BASE_DIR / "var")
UMASK = env.octal("LOOKALIKE_UMASK", 0o077)  # whatever any process of the site writes
os.umask(UMASK)
# Arrow's own allocator keeps what each thread has freed, up to 100 MB in a freeze; settings are
# read before it loads.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
DEBUG = env.flag("DEBUG", False)
BEHIND_PROXY = env.flag("BEHIND_PROXY", False)  # what its headers say is believed


def _secret_key() -> str:
    """Return SECRET_KEY, or one made once per data folder and readable by its owner alone."""
    given = env.optional("SECRET_KEY")
    if given is not None:
        if len(given) < 50:
            raise env.EnvError("SECRET_KEY must have at least 50 characters.")
        return given
    path = DATA_DIR / "secret-key"
    try:
        if not path.exists():
            DATA_DIR.mkdir(parents=True, exist_ok=True)
            fresh = path.with_suffix(f".{secrets.token_hex(4)}")
            fresh.touch(mode=0o600)
            fresh.write_text(secrets.token_urlsafe(64))
            with contextlib.suppress(FileExistsError):  # the first wins, others read its key
                path.hardlink_to(fresh)
            fresh.unlink()
        return path.read_text()
    except OSError as problem:
        raise env.EnvError(
            f"The data folder {DATA_DIR} cannot be used ({problem.strerror}): make it writable and "
            "make room, or set LOOKALIKE_DATA to another folder."
        ) from None


SECRET_KEY = _secret_key()
HUB_URL = env.text("HF_ENDPOINT", "https://huggingface.co")
HUB_TOKEN = env.optional("HF_TOKEN")
ZENODO_URL = env.text("ZENODO_URL", "https://zenodo.org")
ZENODO_TOKEN = env.optional("ZENODO_TOKEN")
# of minisign, without a password; the public one lies beside it as NAME.pub
SIGNING_KEY = Path(_key).expanduser() if (_key := env.optional("SIGNING_KEY")) else None
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.names("CSRF_TRUSTED_ORIGINS")
GIVEN_URL = env.optional("PUBLIC_URL")
PUBLIC_URL = GIVEN_URL or "http://127.0.0.1:8000"

# ---- services: given by URL, or the embedded ones of this data folder ----
SERVICES = embedded.service_urls(
    DATA_DIR, database_url=env.optional("DATABASE_URL"), redis_url=env.optional("REDIS_URL")
)
REDIS_URL = SERVICES.redis_url


def _database(url: str) -> dict[str, object]:
    """Translate postgresql://user:password@host:port/name?option=value for Django."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise env.EnvError(f"DATABASE_URL must start with postgresql://, not {parts.scheme!r}.")
    options = {"connect_timeout": "5", **dict(parse_qsl(parts.query))}
    return {
        "ENGINE": "config.database",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


DATABASES = {"default": _database(SERVICES.database_url)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL.replace("redis+socket://", "unix://", 1),
        # values signed with another key are never found
        "KEY_PREFIX": f"lookalike:{hashlib.sha256(SECRET_KEY.encode()).hexdigest()[:8]}",
        "OPTIONS": {"serializer": "config.signed_cache.SignedSerializer"},
    },
    "process": {  # what a process need not tell the others
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
    "disk": {  # what takes seconds to make and is never another
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": DATA_DIR / "figures",
        "TIMEOUT": None,
        "OPTIONS": {"MAX_ENTRIES": 2_000},
    },
}

CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600}
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_DEFAULT_QUEUE = "light"
_EVERY_SECONDS = {
    "pooling.settle": 10.0,
    "evaluation.draft_planned_campaigns": 15.0,
    "annotation.tasks.reap": 30.0,
    "evaluation.look_at_rounds": 60.0,
    "notices.look": 60.0,
    "catalog.drop_old_uploads": 3600.0,
    "audit.forget": 3600.0,
    "accounts.remove_expired_sessions": 3600.0,
}
CELERY_BEAT_SCHEDULE = {
    task: {"task": task, "schedule": seconds, "options": {"expires": seconds}}
    for task, seconds in _EVERY_SECONDS.items()
}

# ---- this process as a device worker; script/worker and script/server set these ----
WORKER_NAME = env.text("LOOKALIKE_WORKER", "")
WORKER_QUEUE = env.text("LOOKALIKE_WORKER_QUEUE", "")
WORKER_DEVICE = env.text("LOOKALIKE_WORKER_DEVICE", "")
# A worker's process that has ever held more than this is replaced once its job has ended: what a
# large file took is not kept. A job is never cut short, and its lease ends with it. Another light
# process is a fork, at once ready; its limit leaves room for the text encoder that notions need,
# which takes 1.05 GB. On a device it loads its model anew, so that limit stands above what a
# model, a search and an index take together.
LIGHT_MEMORY_MIB = env.integer("LIGHT_MEMORY_MIB", 1536)
DEVICE_MEMORY_MIB = env.integer("DEVICE_MEMORY_MIB", 12_288)
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 1024 * (  # in KiB
    DEVICE_MEMORY_MIB if WORKER_DEVICE else LIGHT_MEMORY_MIB
)
SEARCH_MEMORY_MIB = env.integer(  # of an exact search; a GPU is sooner done with larger blocks
    "SEARCH_MEMORY_MIB", 2048 if WORKER_DEVICE.startswith("cuda") else 256
)
INDEX_MEMORY_MIB = env.integer("INDEX_MEMORY_MIB", 4096)  # of an approximate index
VECTORS_MEMORY_MIB = env.integer("VECTORS_MEMORY_MIB", 1024)  # of vectors in one uploaded file
os.environ["VECTORS_MEMORY_MIB"] = str(VECTORS_MEMORY_MIB)  # lookalike.io.vectors reads it there
JOB_SILENT_MINUTES = env.integer("JOB_SILENT_MINUTES", 30)  # then it is taken for hung
JOB_LONG_MINUTES = env.integer("JOB_LONG_MINUTES", 360)  # likewise, in phases that are long
MAX_OPEN_JOBS = env.integer("MAX_OPEN_JOBS", 100)  # of one person

# ---- application ----
INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "django.forms",
    "csp",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "audit",
    "accounts",
    "jobs",
    "catalog",
    "annotation",
    "pooling",
    "conditional",
    "learning",
    "evaluation",
    "releases",
    "notices",
    "demo",
]
MIDDLEWARE = [
    "config.operation.health.probes",
    "audit.middleware.request_ids",
    "config.operation.metrics.measured",
    "accounts.languages.ByBrowser",
    "config.pages.errors.second_reading",
    "config.middleware.unused_features",
    "config.middleware.drop_null_characters",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.languages.ByPerson",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "accounts.sign_in.afterwards.afterwards",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.middleware.second_factor",
    "accounts.middleware.session_list",
    "django_htmx.middleware.HtmxMiddleware",
    "csp.middleware.CSPMiddleware",
    "config.middleware.back_office_policy",
    "config.middleware.private_pages",
    "config.middleware.api_errors",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.pages.navigation.header_links",
                "config.pages.script_translations.words_url",
                "accounts.languages.language_choices",
            ],
            "builtins": ["django.templatetags.i18n"],
        },
    }
]

FORM_RENDERER = "django.forms.renderers.TemplatesSetting"  # fields in templates/django/forms

# ---- people ----
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "accounts.sign_in.breached.BreachedPasswordValidator"}]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]
ACCOUNT_FORMS = {
    "login": "accounts.forms.SignInForm",
    "change_password": "accounts.forms.NewPasswordForm",
    "reset_password": "accounts.forms.ForgottenPasswordForm",
    "reset_password_from_key": "accounts.forms.FirstPasswordForm",
}
ACCOUNT_ADAPTER = "accounts.sign_in.adapter.InvitedOnlyAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"  # accounts are made by admins, not by strangers
ACCOUNT_PREVENT_ENUMERATION = "strict"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # no mail to addresses that strangers type in
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "5/5m/key",  # the key is a name from one address or known browser
    "login_failed_address": "10/m/ip",
    "login_failed_name": "50/h/key",  # from anywhere but its owner's browsers
    "reset_password": "20/m/ip,5/h/key",
    "reset_password_from_key": "20/m/ip",
    "change_password": "5/m/user",
    "reauthenticate": "10/m/user",
}
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if BEHIND_PROXY else 0
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_FORMS = {"add_webauthn": "accounts.passkeys.PasskeyForm"}
MFA_TOTP_ISSUER = "Lookalike"
MFA_TOTP_TOLERANCE = 1  # 30 s: a code that runs out while it is typed (RFC 6238, 5.2)
MFA_ALLOW_UNVERIFIED_EMAIL = True  # the address came from an admin
# whether admins may do nothing before they have a second factor: by default where others can reach
# the site, not on a machine of one's own
REQUIRE_ADMIN_MFA = env.flag("REQUIRE_ADMIN_MFA", PUBLIC_URL.startswith("https://"))
SESSION_IDLE_HOURS = env.integer("SESSION_IDLE_HOURS", 12)  # then one signs in anew; 0: never
# a file of Have I Been Pwned (SHA-1, ordered), or the address of its ranges
BREACHED_PASSWORDS = env.text("BREACHED_PASSWORDS", "")
OIDC = oidc.given()
SOCIALACCOUNT_PROVIDERS = oidc.providers(OIDC)
SOCIALACCOUNT_ADAPTER = "accounts.sign_in.single_sign_on.SingleSignOn"
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_EMAIL_REQUIRED = False  # nobody is asked for one that nobody has verified
SOCIALACCOUNT_EMAIL_AUTHENTICATION = True  # an address that the provider has verified
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
# by a link: a form may not be sent on to the provider's sites under our form-action
SOCIALACCOUNT_LOGIN_ON_GET = True
MAIL = mail.given()
EMAIL_BACKEND = env.text("EMAIL_BACKEND", MAIL.backend)
EMAIL_HOST, EMAIL_PORT = MAIL.host, MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.user, MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.starts_tls, MAIL.is_tls
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "lookalike@localhost")

# ---- files ----
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
OBJECT_STORAGE = storage.given()
STORAGES = {
    "default": storage.blobs(OBJECT_STORAGE),
    "staticfiles": {"BACKEND": "config.static.StaticStorage"},
}
WHITENOISE_USE_FINDERS = (  # who waits for a prepared site will find them collected
    PREPARED not in os.environ and not (STATIC_ROOT / "staticfiles.json").exists()
)
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS  # a file may change while it is served
FILE_UPLOAD_PERMISSIONS = 0o666 & ~UMASK
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o777 & ~UMASK
FILE_UPLOAD_HANDLERS = [
    "catalog.importing.upload_handlers.BoundedUploads",  # who may send how much
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "catalog.importing.upload_handlers.DataFolderUploads",
]
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 2**20
LEAST_FREE_MIB = env.integer("LEAST_FREE_MIB", 512)  # of the data folder's disk: no uploads below
DISK_QUOTA_MIB = env.integer("DISK_QUOTA_MIB", 20_480)  # of one researcher's runs; 0: no limit
ANSWERS_A_MINUTE = env.integer("ANSWERS_A_MINUTE", 1200)  # of one judge; 0: no limit
UPLOADS_AN_HOUR = env.integer("UPLOADS_AN_HOUR", 30)  # of one person on pages; the API has its own
# Of the front, which then sends the files of releases itself, e.g. /data/ (deploy/nginx.conf).
X_ACCEL_PREFIX = env.text("X_ACCEL_PREFIX", "")
IMPORT_FOLDERS = [Path(name).resolve() for name in env.names("IMPORT_FOLDERS")]
# Where originals may stay that manifests name; with none of these no manifest is read.
REMOTE_HOSTS = env.names("REMOTE_HOSTS")  # public: name, name:port, *.name
REMOTE_PRIVATE_HOSTS = env.names("REMOTE_PRIVATE_HOSTS")  # of the institution's own network
REMOTE_S3_BUCKETS = env.names("REMOTE_S3_BUCKETS")
REMOTE_S3_ENDPOINT_URL = env.text("REMOTE_S3_ENDPOINT_URL", "")
REMOTE_S3_REGION = env.text("REMOTE_S3_REGION", "us-east-1")
REMOTE_S3_ACCESS_KEY_ID = env.text("REMOTE_S3_ACCESS_KEY_ID", "")  # none: public buckets
REMOTE_S3_SECRET_ACCESS_KEY = env.text("REMOTE_S3_SECRET_ACCESS_KEY", "")
# Dotted paths of models of your own that may propose for pools; they run as workers do.
POOL_PLUGINS = env.names("POOL_PLUGINS")

# ---- safety ----
HTTPS = env.flag("HTTPS", not DEBUG and PUBLIC_URL.startswith("https://"))
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS  # browsers themselves allow http for localhost alone
SECURE_SSL_REDIRECT = HTTPS
SECURITY_CONTACT = env.text("SECURITY_CONTACT", "")  # in /.well-known/security.txt
if SECURITY_CONTACT and not re.fullmatch(r"(mailto:|https://|tel:)[!-~]+", SECURITY_CONTACT):
    raise env.EnvError("SECURITY_CONTACT must be a mailto:, https: or tel: address.")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    },
}

# Hosts of the institution's own network that webhooks may reach; elsewhere public ones alone.
WEBHOOK_HOSTS = env.names("WEBHOOK_HOSTS")

# ---- the audit log ----
AUDIT_ADDRESS_DAYS = env.integer("AUDIT_ADDRESS_DAYS", 90)  # then addresses are blanked
AUDIT_DAYS = env.integer("AUDIT_DAYS", 0)  # then entries are removed; 0 keeps them
AUDIT_LOG = env.flag("AUDIT_LOG", False)  # each entry goes into the log, too, as a JSON line
if AUDIT_ADDRESS_DAYS < 1 or (AUDIT_DAYS and AUDIT_DAYS < 30):
    raise env.EnvError("AUDIT_ADDRESS_DAYS is at least 1; AUDIT_DAYS is 0 or at least 30.")

# ---- the back office ----
UNFOLD = {
    "SITE_TITLE": "Lookalike back office",
    "SITE_HEADER": "Lookalike",
    "SITE_SUBHEADER": "Back office",
    "SITE_URL": "/",
    "SITE_ICON": lambda request: static("img/logo.svg"),
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("img/logo.svg")}
    ],
    "SHOW_VIEW_ON_SITE": False,
    "COLORS": {
        "primary": {
            "50": "#eef6f8",
            "100": "#d9ecf1",
            "200": "#b4d9e3",
            "300": "#84cbdc",
            "400": "#4aa5bc",
            "500": "#1a7c95",
            "600": "#0f5c70",
            "700": "#0d4d5e",
            "800": "#0a4555",
            "900": "#093844",
            "950": "#06252d",
        }
    },
}

# ---- language, time, logs ----
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "German"), ("es", "Spanish")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = ["config.formats"]
LANGUAGE_COOKIE_HTTPONLY = True
TIME_ZONE = env.text("TIME_ZONE", "UTC")
USE_TZ = True
LOG_FORMAT = env.text("LOG_FORMAT", "plain")
if LOG_FORMAT not in {"plain", "json"}:
    raise env.EnvError(f"LOG_FORMAT must be plain or json, not {LOG_FORMAT!r}.")
reporting.require_packages()
METRICS_TOKEN = env.text("METRICS_TOKEN", "")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "json": reporting.json_formatter(),
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["stderr"], "level": env.text("LOG_LEVEL", "INFO")},
    "loggers": {
        "faiss": {"level": "WARNING"},  # it tells which processor it was loaded for
        "celery": {"level": "WARNING"},  # as the workers' command line says
    },
}
