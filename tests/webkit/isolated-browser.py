"""WebKitGTK windows that share a profile like tabs of one browser. Their documents start with the given scripts,
each in the page's world or in a named isolated one, like an extension's content scripts. MiniBrowser has no such
option, and the inspector can't create worlds. The inspector drives the windows.

Usage: isolated-browser.py PROFILE_FOLDER FEATURES SCRIPTS_JSON WINDOWS
FEATURES: comma-separated names. SCRIPTS_JSON: a list of {"source", "world" ("" = the page's), "at" ("start" | "end"), "on": [URL patterns]}.
Needs Debian's python3-gi and gir1.2-webkit2-4.1.
"""
import json
import os
import signal
import sys

import gi

gi.require_version('Gtk', '3.0')
gi.require_version('WebKit2', '4.1')
from gi.repository import GLib, Gtk, WebKit2  # noqa: E402

profile, features, scripts_file, windows = sys.argv[1:]

settings = WebKit2.Settings()
settings.set_enable_developer_extras(True)  # otherwise the inspector doesn't list the page
listed = WebKit2.Settings.get_all_features()
known = {listed.get(i).get_identifier(): listed.get(i) for i in range(listed.get_length())}
for name in features.split(','):
    settings.set_feature_enabled(known[name], True)

content = WebKit2.UserContentManager()
with open(scripts_file, encoding='utf-8') as file:
    scripts = json.load(file)
for script in scripts:
    when = {'start': WebKit2.UserScriptInjectionTime.START, 'end': WebKit2.UserScriptInjectionTime.END}[script['at']]
    frames = WebKit2.UserContentInjectedFrames.ALL_FRAMES
    if script['world']:
        made = WebKit2.UserScript.new_for_world(script['source'], frames, when, script['world'], script['on'], None)
    else:
        made = WebKit2.UserScript.new(script['source'], frames, when, script['on'], None)
    content.add_script(made)

# OPFS needs a profile on disk
context = WebKit2.WebContext(
    website_data_manager=WebKit2.WebsiteDataManager(
        base_data_directory=os.path.join(profile, 'data'), base_cache_directory=os.path.join(profile, 'cache')
    )
)
for _ in range(int(windows)):
    view = WebKit2.WebView(web_context=context, settings=settings, user_content_manager=content)
    window = Gtk.Window()
    window.set_default_size(1200, 800)
    window.add(view)
    window.show_all()
    view.load_uri('about:blank')
for number in (signal.SIGTERM, signal.SIGINT):
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, Gtk.main_quit)
Gtk.main()
