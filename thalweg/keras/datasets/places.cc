#include "thalweg/keras/datasets/places.h"

#include <dlfcn.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "thalweg/core/error.h"
#include "thalweg/io/extract.h"

namespace thalweg::keras {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The build tree, an installed tree and a wheel all keep share/thalweg in the folder of the library (or of a program
// that has the library inside) or in one above it.
fs::path beside(const fs::path& binary, const std::string& name) {
  constexpr int levels = 4;
  std::error_code error;
  fs::path folder = fs::canonical(binary, error).parent_path();
  for (int i = 0; !error && i < levels && folder.has_relative_path(); ++i, folder = folder.parent_path())
    if (fs::path found = folder / "share" / "thalweg" / name; is_there(found)) return found;
  return {};
}

}  // namespace

std::string keras_home() {
  std::string home = environment("KERAS_HOME");
  if (!home.empty()) return home;
  home = environment("HOME");
  if (home.empty())
    if (const passwd* user = getpwuid(getuid())) home = user->pw_dir;
  return (fs::path(home) / ".keras").string();
}

namespace datasets {

std::string local_place(const std::string& name) { return (fs::path(keras_home()) / "datasets" / name).string(); }

std::string local_file(const std::string& name) {
  std::string path = local_place(name);
  if (!is_there(path))
    throw NotFoundError("the data set's file " + fs::path(name).filename().string() +
                        " is missing, and nothing is downloaded: put it at " + path +
                        " (KERAS_HOME names another folder than ~/.keras)");
  return path;
}

std::string local_folder(const std::string& folder) {
  std::string path = local_place(folder), archive = path + ".tar.gz";
  if (is_there(path)) return path;
  if (!is_there(archive))
    throw NotFoundError("the data set's folder " + folder + " is missing, and nothing is downloaded: put it at " +
                        path + ", or the archive it comes in at " + archive +
                        " (KERAS_HOME names another folder than ~/.keras)");
  io::extract_archive(archive, fs::path(archive).parent_path().string());
  if (!is_there(path)) throw errors::DataLossError(archive + " holds no folder " + folder);
  return path;
}

std::string shipped_file(const std::string& name) {
  if (std::string folder = environment("THALWEG_DATA"); !folder.empty())
    if (fs::path found = fs::path(folder) / name; is_there(found)) return found.string();
  Dl_info library = {};
  if (dladdr(reinterpret_cast<const void*>(&keras_home), &library) && library.dli_fname)
    if (fs::path found = beside(library.dli_fname, name); !found.empty()) return found.string();
  // The loader knows a program by the name it was called with, which may be no path.
  if (fs::path found = beside("/proc/self/exe", name); !found.empty()) return found.string();
  // A program that links the archive may stand anywhere.
  if (fs::path found = fs::path(THALWEG_DATA_DIRECTORY) / name; is_there(found)) return found.string();
  return "";
}

}  // namespace datasets
}  // namespace thalweg::keras
